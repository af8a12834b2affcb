import { type Hook, targetKey } from "./hook.ts";

/** The hooks of one session, ready to be looked up by point. */
export interface HookRegistry {
  /** Hooks at a point, in declaration order over all layers; undefined where there is none. */
  at(key: string): readonly Hook[] | undefined;
  readonly all: readonly Hook[];
}

export function hookRegistry(hooks: readonly Hook[]): HookRegistry {
  const byTarget = new Map<string, Hook[]>();
  for (const hook of hooks) {
    const key = targetKey(hook.target);
    const list = byTarget.get(key);
    if (list) list.push(hook);
    else byTarget.set(key, [hook]);
  }
  return { at: (key) => byTarget.get(key), all: hooks };
}

export const NO_HOOKS: HookRegistry = hookRegistry([]);
