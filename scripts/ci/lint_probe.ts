import { readFile } from "node:fs/promises";
import { sleep, systemClock } from "../../src/clock/clock.ts";

/** Leaves two promises alone, which the type-aware linter has to flag: CI checks that it does. Never run. */
export function leavePromisesAlone(): void {
  sleep(systemClock, 1);
  readFile("x");
}
