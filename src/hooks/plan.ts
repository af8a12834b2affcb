import type { Hook } from "./hook.ts";
import type { Verdict } from "./verdict.ts";

/** Pure: one verdict a hook, in order. `off` holds the hooks that this session has switched off. */
export function planHooks(
  hooks: readonly Hook[],
  payload: Readonly<Record<string, unknown>>,
  off: ReadonlySet<Hook>,
): Verdict[] {
  const verdicts: Verdict[] = new Array<Verdict>(hooks.length);
  for (let index = 0; index < hooks.length; index++) {
    const hook = hooks[index] as Hook;
    if (!hook.enabled || (off.size > 0 && off.has(hook))) {
      verdicts[index] = "disabled";
      continue;
    }
    const failing = hook.matcher === null ? -1 : hook.matcher.failing(payload);
    verdicts[index] = failing === -1 ? "run" : hook.noMatch[failing] ?? "run";
  }
  return verdicts;
}
