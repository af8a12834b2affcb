import type { DecisionPoint } from "../../points/decision_shapes.ts";
import type { LocalTarget } from "../declaration.ts";

/** The hidden word by which a process of this program serves one hook. */
export const HOOK_HOST_VERB = "__hook-host";

/** The descriptor of the socket between the two, so that what the hook prints is no message. */
export const CHANNEL_FD = 3;

/** Longest line that is read of a child, in UTF-16 units. */
export const LONGEST_LINE = 8 * 1024 * 1024;

/** The first line to a child. */
export interface HostStart {
  /** Stands before each line of the answer, so that the hook does not speak for its host by accident. */
  nonce: string;
  target: Omit<LocalTarget, "isolate">;
  folder: string;
}

/** Each further line to a child. */
export interface HostCall {
  call: number;
  point: DecisionPoint;
  context: unknown;
  id: string;
  /** Others were under way when it was sent: the child says when it begins with this one. */
  behind: boolean;
}

/** A line from a child: first how the hook was loaded, then beginnings and answers, in any order. */
export type HostLine =
  | { loaded: true; points: DecisionPoint[] }
  | { loaded: false; reason: string }
  | { begun: number }
  | { call: number; ok: true; decisions: object }
  | { call: number; ok: false; error: string };

/** Calls back for each whole line; a line that grows too long calls `tooLong`, once. */
export function lineReader(onLine: (line: string) => unknown, tooLong: () => void): (chunk: string) => void {
  let rest = "";
  let stopped = false;
  return (chunk) => {
    if (stopped) return;
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(line);
    if (rest.length > LONGEST_LINE) {
      stopped = true;
      rest = "";
      tooLong();
    }
  };
}
