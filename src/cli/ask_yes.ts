import process from "node:process";
import { isInForeground, isTerminal } from "../adapter/terminal.ts";
import type { Clock } from "../clock/clock.ts";
import { dropTypedAhead, readLine } from "./read_line.ts";

/** Longest wait for an answer, in milliseconds. */
const PATIENCE_MS = 5 * 60_000;

/** Whether there is a person at this process to ask, who sees both what was shown (on stdout) and the question. */
export function canAsk(): boolean {
  return isTerminal("stdin") && isTerminal("stdout") && isTerminal("stderr") && isInForeground();
}

/**
 * Asks at the terminal. Only `y` or `yes` is a yes; nothing, an end of input and no answer in time are a no. What was typed
 * before the question stood there is no answer to it.
 */
export async function askYes(question: string, clock: Clock): Promise<boolean> {
  const late = new AbortController();
  const cancel = clock.after(PATIENCE_MS, () => late.abort());
  try {
    if (await dropTypedAhead(process.stdin, clock, late.signal) === "ended") return false;
    process.stderr.write(`${question} [y/N] `);
    return /^\s*y(es)?\s*$/i.test(await readLine(process.stdin, late.signal) ?? "");
  } finally {
    cancel();
    process.stdin.pause();
  }
}
