import type { CaseRow } from "./load.ts";
import { type CaseResult, runCase, type RunOptions } from "./run_case.ts";

/** Runs cases, several at a time, and tells of each as it ends; the results come in the order of the rows. */
export async function runAll(
  rows: readonly CaseRow[],
  jobs: number,
  options: RunOptions,
  onEnd: (result: CaseResult) => void,
): Promise<CaseResult[]> {
  const results: CaseResult[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < rows.length; index = next++) {
      const row = rows[index];
      if (!row) return;
      const result = await runCase(row, options);
      results[index] = result;
      onEnd(result);
    }
  };
  await Promise.all(Array.from({ length: Math.min(jobs, rows.length) }, work));
  return results;
}
