import type { Hook } from "./hook.ts";

/**
 * Why a hook ran or did not. `matcher:<field>` names the first field that did not match; the runner replaces `run`
 * by what came of it.
 */
export type Verdict =
  | "run"
  | "disabled"
  | `matcher:${string}`
  | "pushed"
  | "withheld"
  | "failed"
  | "queued"
  | "overlap"
  | "rate_limited";

/** Pure: one verdict a hook, in order. `switchedOff` says which hooks this session has turned off. */
export function planHooks(
  hooks: readonly Hook[],
  payload: Readonly<Record<string, unknown>>,
  switchedOff: (hook: Hook) => boolean,
): Verdict[] {
  const verdicts: Verdict[] = new Array<Verdict>(hooks.length);
  for (let index = 0; index < hooks.length; index++) {
    const hook = hooks[index] as Hook;
    if (!hook.enabled || switchedOff(hook)) {
      verdicts[index] = "disabled";
      continue;
    }
    const failed = hook.matcher === null ? null : hook.matcher.failedField(payload);
    verdicts[index] = failed === null ? "run" : verdictOf(failed);
  }
  return verdicts;
}

const MATCHER_VERDICTS = new Map<string, Verdict>();
/** Field names come from load-time checked matchers; on composed events they are open, so the cache is bounded. */
const CACHED_FIELDS = 256;

function verdictOf(field: string): Verdict {
  const cached = MATCHER_VERDICTS.get(field);
  if (cached !== undefined) return cached;
  const verdict: Verdict = `matcher:${field}`;
  if (MATCHER_VERDICTS.size < CACHED_FIELDS) MATCHER_VERDICTS.set(field, verdict);
  return verdict;
}
