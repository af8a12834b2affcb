import { CATALOGUE, type ErrorCode } from "./catalogue.ts";
import { escapeVisible } from "./escape_visible.ts";
import { EXIT, type ExitCode } from "./exit_codes.ts";
import { type Finding, formatFinding } from "./finding.ts";

export interface ReynErrorOptions {
  fix?: string;
  exitCode?: ExitCode;
  findings?: readonly Finding[];
  cause?: unknown;
}

/** A failure that the operator is told about: coded, with what to do, never shown with a stack trace. */
export class ReynError extends Error {
  override readonly name: string = "ReynError";
  readonly code: ErrorCode;
  readonly fix: string | undefined;
  readonly exitCode: ExitCode;
  readonly findings: readonly Finding[];

  constructor(code: ErrorCode, message: string, options: ReynErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.fix = options.fix;
    this.exitCode = options.exitCode ?? EXIT.refused;
    this.findings = options.findings ?? [];
  }
}

/** The lines the operator sees, safe to show: the findings where there are any, else `CODE message (fix)`. */
export function formatError(error: ReynError): string {
  if (error.findings.length > 0) return error.findings.map(formatFinding).join("\n");
  return escapeVisible(`${error.code} ${error.message}${error.fix ? ` (${error.fix})` : ""}`);
}

export function finding(
  code: ErrorCode,
  message: string,
  rest: Omit<Finding, "code" | "severity" | "message"> = {},
): Finding {
  return { code, severity: CATALOGUE[code].severity, message, ...rest };
}

export function isReynError(error: unknown): error is ReynError {
  return error instanceof ReynError;
}
