import type { Denied } from "./protocol.ts";

/**
 * How a call of a plugin ended.
 *
 * `exit`: it returned another number than 0, or set an error. `trap`: it faulted. `signal`: its process went, or reyn ended it.
 * `launch_failed`: the module, or a folder that it is granted, cannot be used. `…_limit`: that limit of the call was exceeded.
 * `disabled`: it failed too often, and was not called. `sandbox_unconfirmed`: nothing ran.
 */
export type PluginOutcome =
  | "ok"
  | "exit"
  | "trap"
  | "timeout"
  | "signal"
  | "launch_failed"
  | "input_limit"
  | "output_limit"
  | "memory_limit"
  | "log_limit"
  | "call_limit"
  | "disabled"
  | "sandbox_unconfirmed";

export interface PluginResult {
  outcome: PluginOutcome;
  /** What the export returned; -1 when it did not return. */
  returncode: number;
  /** Empty where it was not asked for, and unless the outcome is `ok` or `exit`. */
  output: Uint8Array;
  /** One line: why it is not `ok`; the plugin's own error text is `error`. */
  reason: string | null;
  /** The text of the error that the plugin set: its own words. */
  error: string | null;
  /** The end of its log: its own words. */
  log: string;
  /** What it tried and was refused; `deniedMore` counts the rest. */
  denied: readonly Denied[];
  deniedMore: number;
  hostCalls: number;
  /** The guest's memory at the end; 0 where it is not known. */
  memoryBytes: number;
  /** It was the last of several faults in a row: from now on the plugin is not called. */
  disables: boolean;
  /** From the asking to the end, waiting included. */
  durationMs: number;
}

/** Outcomes that count against a plugin: after several in a row it is not called any more. */
export const FAULTS: ReadonlySet<PluginOutcome> = new Set([
  "trap",
  "timeout",
  "signal",
  "output_limit",
  "memory_limit",
  "log_limit",
  "call_limit",
]);
