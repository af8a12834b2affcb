import type { Layer } from "../config/section.ts";
import type { Matcher } from "../match/matcher.ts";
import type { HookTarget } from "../points/reactions.ts";
import type { ExecAction } from "./exec_action.ts";
import type { CompiledPush } from "./template_push.ts";
import type { Verdict } from "./verdict.ts";

/** A hook made ready to run. Nothing about it is parsed or checked again when it fires. */
export interface Hook {
  layer: Layer;
  /** Position in its layer's list. */
  index: number;
  /** The operator's name for it, if any. */
  name: string | null;
  /** How messages, records and listings refer to it: its name, or `<layer>#<index>`. */
  label: string;
  /** What `[hook:…]` says: its name, or the point it is at. */
  attribution: string;
  target: HookTarget;
  matcher: Matcher | null;
  /** The verdict for each field of the matcher that does not match. */
  noMatch: readonly Verdict[];
  enabled: boolean;
  onError: "continue" | "suspend";
  overlap: Overlap;
  rateLimit: RateLimit | null;
  /** False: a lifecycle hook that the loop does not wait for. */
  awaited: boolean;
  action: HookAction;
}

export type Overlap = "queue" | "skip" | "parallel";

export interface RateLimit {
  count: number;
  perMs: number;
}

export type HookAction =
  | { scheme: "template_push"; push: CompiledPush }
  | ExecAction
  | { scheme: "pipeline_launch"; pipeline: string };

/** The commands and plugins that hooks run. */
export function commandsOf(hooks: readonly Hook[]): ExecAction[] {
  return hooks.flatMap(({ action }) => "argv" in action ? [action] : []);
}

/** Where hooks of a point are kept: `turn_end`, or `composed:<name>`. */
export function targetKey(target: HookTarget): string {
  return target.kind === "builtin" ? target.point : `composed:${target.name}`;
}
