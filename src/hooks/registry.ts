import { type Hook, targetKey } from "./hook.ts";

/** The hooks of one session, ready to be looked up by point. */
export interface HookRegistry {
  /** Hooks at a point, in declaration order over all layers; undefined where there is none. */
  at(key: string): readonly Hook[] | undefined;
  readonly all: readonly Hook[];
}

export function hookRegistry(hooks: readonly Hook[]): HookRegistry {
  const all = distinct(hooks);
  const byTarget = new Map<string, Hook[]>();
  for (const hook of all) {
    const key = targetKey(hook.target);
    const list = byTarget.get(key);
    if (list) list.push(hook);
    else byTarget.set(key, [hook]);
  }
  return { at: (key) => byTarget.get(key), all };
}

/** A name is unique in its file only: hooks of several layers that share one are told apart as `<layer>:<name>`. */
function distinct(hooks: readonly Hook[]): readonly Hook[] {
  const shared = sharedLabels(hooks);
  if (shared.size === 0) return hooks;
  const renamed = hooks.map((hook) =>
    shared.has(hook.label) ? { ...hook, label: `${hook.layer}:${hook.label}` } : hook
  );
  // Another hook may be called just that; an index is nobody's name.
  const still = sharedLabels(renamed);
  return renamed.map((hook) =>
    still.has(hook.label) ? { ...hook, label: `${hook.layer}#${hook.index}` } : hook
  );
}

function sharedLabels(hooks: readonly Hook[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const shared = new Set<string>();
  for (const { label } of hooks) {
    if (seen.has(label)) shared.add(label);
    seen.add(label);
  }
  return shared;
}

export const NO_HOOKS: HookRegistry = hookRegistry([]);
