import type { ErrorCode } from "./catalogue.ts";
import { escapeVisible } from "./escape_visible.ts";

/** Where in an operator's file something stands. Lines and columns are 1-based. */
export interface Place {
  file: string;
  line: number;
  column: number;
}

export type Severity = "error" | "warning";

/** One thing that is wrong, or odd, in what the operator declared. */
export interface Finding {
  code: ErrorCode;
  severity: Severity;
  message: string;
  /** What it is about, in the operator's own notation: `hooks[1].matcher`. */
  subject?: string;
  place?: Place;
  /** What to do about it; printed in parentheses behind the message. */
  fix?: string;
  /** What is accepted there, when that is a short list; printed last. */
  allowed?: readonly string[];
}

/**
 * `reyn.yaml:12:5 E_KEY_UNKNOWN hooks[1]: unknown key "onn" (did you mean "on"?); allowed: on, name`, one line that is
 * safe to show whatever file names and values it repeats.
 */
export function formatFinding(finding: Finding): string {
  const { place, code, subject, message, fix, allowed } = finding;
  const where = place ? `${place.file}:${place.line}:${place.column} ` : "";
  const about = subject ? ` ${subject}:` : "";
  const accepted = allowed ? `; allowed: ${allowed.join(", ")}` : "";
  return escapeVisible(`${where}${code}${about} ${message}${fix ? ` (${fix})` : ""}${accepted}`);
}

export function isError(finding: Finding): boolean {
  return finding.severity === "error";
}
