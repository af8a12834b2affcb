import type { Running } from "../processes.ts";
import { tail } from "../diff.ts";

/** What a step expected and did not get; its message is for the reader of the case. */
export class StepFailure extends Error {
  override readonly name = "StepFailure";
}

/** What a process said, for a failure in which that matters. */
export function outputOf(running: Running): string {
  const [stdout, stderr] = [running.stdout(), running.stderr()];
  return `  stdout:\n${tail(stdout)}\n  stderr:\n${tail(stderr)}`;
}
