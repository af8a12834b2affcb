import type { CaseResult } from "./run_case.ts";

/** What a failed case is told as. */
export function describeFailure({ name, shows, file, failures, kept }: CaseResult): string {
  const lines = [`FAILED ${name}: ${shows}`];
  for (const { step, line, message } of failures) {
    lines.push(`  ${file}:${line} ${step}`, ...message.split("\n").map((text) => `  ${text}`));
  }
  if (kept !== undefined) lines.push(`  kept: ${kept}`);
  return lines.join("\n");
}

export interface Summary {
  passed: number;
  failed: number;
}

export function summarize(results: readonly CaseResult[]): Summary {
  const failed = results.filter(({ failures }) => failures.length > 0).length;
  return { passed: results.length - failed, failed };
}

export function asJson(results: readonly CaseResult[], findings: readonly string[]): string {
  const cases = results.map(({ failures, ...rest }) => ({ ...rest, ok: failures.length === 0, failures }));
  return JSON.stringify({ ...summarize(results), findings, cases }, null, 2);
}
