/** How one run ended. `sandbox_unconfirmed`: nothing is known to have run confined, so nothing counts as having run. */
export type RunOutcome =
  | "ok"
  | "exit"
  | "signal"
  | "timeout"
  | "launch_failed"
  | "output_limit"
  | "sandbox_unconfirmed";

/** Whether a run that ended so ran, and failed: only then there is a denial to look for. */
export function mayBeDenied(outcome: RunOutcome): boolean {
  return ["exit", "signal", "timeout", "output_limit"].includes(outcome);
}

export type DenialClass = "fork_denied" | "network_denied" | "write_denied" | "read_denied";

/** Why a failed run was, by all appearance, stopped by its sandbox. */
export interface Denial {
  class: DenialClass;
  /** `counted`: the helper saw the refusals. `heuristic`: stderr names a path that the policy denies. */
  attribution: "counted" | "heuristic";
  /** The grant in force and the key that changes it. */
  message: string;
  /** The path, where the class is about one. */
  path?: string;
}

/** Refused calls, as the helper counted them. */
export interface DeniedCounts {
  fork: number;
  forkBudget: number;
  inet: number;
  unix: number;
  socket: number;
  metadata: number;
  listing: number;
  other: number;
}

export interface SandboxRun {
  outcome: RunOutcome;
  /** Exit code; minus the number of the signal that ended it; -1 when it did not end by itself or never began. */
  returncode: number;
  /** The signal that ended it, by name. */
  signal: string | null;
  /** Captured stdout as it came, up to the limit; empty when it was not to be captured. */
  stdout: Uint8Array;
  /** The same, decoded as one stream: invalid bytes become U+FFFD. */
  stdoutText: string;
  /** The end of stderr. */
  stderrTail: string;
  /** Why nothing ran, or why it was ended; null when it ended by itself. */
  reason: string | null;
  denial: Denial | null;
  /** Null when the helper reported none. */
  denied: DeniedCounts | null;
  /** Processes that were still there when the program had ended, and were ended with it. */
  leftKilled: number;
  durationMs: number;
}
