import type { Matcher } from "../match/mod.ts";

/**
 * Why a hook ran or did not, at one firing. `matcher:<field>` names the first field that did not match; `run` stands
 * until what came of it is known.
 */
export type Verdict =
  | "run"
  | "disabled"
  | `matcher:${string}`
  | "pushed"
  | "withheld"
  | "ran"
  | "refused"
  | "failed"
  | "queued"
  | "overlap"
  | "rate_limited";

export function noMatchVerdicts(matcher: Matcher | null): Verdict[] {
  return (matcher?.fields ?? []).map((field): Verdict => `matcher:${field}`);
}
