import process from "node:process";
import { createInterface } from "node:readline";

/** Longest wait for an answer, in milliseconds. */
const PATIENCE_MS = 5 * 60_000;

/** Whether there is a person at this process to ask. */
export function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** Asks at the terminal. Only `y` or `yes` is a yes; nothing, an end of input and no answer in time are a no. */
export function askYes(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  return new Promise((resolve) => {
    let settled = false;
    const settle = (answer: string) => {
      // Closing says so at once.
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      lines.close();
      process.stdin.pause();
      resolve(/^\s*y(es)?\s*$/i.test(answer));
    };
    const timer = setTimeout(() => settle(""), PATIENCE_MS);
    lines.once("line", settle);
    lines.once("close", () => settle(""));
    process.stderr.write(`${question} [y/N] `);
  });
}
