import type { ErrorCode } from "./catalogue.ts";

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
}

/** `reyn.yaml:12:5 E_KEY_UNKNOWN hooks[1]: unknown key "onn" (did you mean "on"?)` */
export function formatFinding(finding: Finding): string {
  const { place, code, subject, message, fix } = finding;
  const where = place ? `${place.file}:${place.line}:${place.column} ` : "";
  const about = subject ? ` ${subject}:` : "";
  return `${where}${code}${about} ${message}${fix ? ` (${fix})` : ""}`;
}

export function isError(finding: Finding): boolean {
  return finding.severity === "error";
}
