import type { SuiteSummary } from "./run_suite.ts";

export interface Report {
  passed: number;
  failed: number;
  lines: string[];
}

/** Of the attacks that are tried without a sandbox, at least this part has to fail there: else they show nothing. */
const DISCRIMINATING = 0.6;

/** Reads what a suite printed: its last line is a SuiteSummary, or `N passed, N failed`. A suite that did not end has failed. */
export function readReport(output: string, code: number): Report {
  const lines = output.trimEnd().split("\n");
  const last = lines.pop() ?? "";
  const [, passed, failed] = /^(\d+) passed, (\d+) failed$/.exec(last) ?? [];
  if (passed !== undefined) {
    return { passed: Number(passed), failed: Number(failed), lines: [...lines, last] };
  }
  const summary = parseSummary(last);
  if (!summary) {
    return { passed: 0, failed: 1, lines: [...lines, last, `the suite did not end (exit ${code})`] };
  }

  const { control } = summary;
  const text = `${summary.passed} passed, ${summary.failed} failed, ${summary.notRun} not run`;
  if (control.tried === 0) return { passed: summary.passed, failed: summary.failed, lines: [...lines, text] };
  const discriminates = control.failed >= control.tried * DISCRIMINATING;
  const shown = `without a sandbox ${control.failed} of ${control.tried} fail`;
  return {
    passed: summary.passed + (discriminates ? 1 : 0),
    failed: summary.failed + (discriminates ? 0 : 1),
    lines: [...lines, `${text}; ${shown}${discriminates ? "" : ", which is too few"}`],
  };
}

function parseSummary(line: string): SuiteSummary | undefined {
  try {
    return JSON.parse(line) as SuiteSummary;
  } catch {
    return undefined;
  }
}
