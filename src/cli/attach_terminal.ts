import process from "node:process";
import { isInForeground, isTerminal } from "../adapter/terminal.ts";
import type { Clock } from "../clock/clock.ts";
import type { Interventions } from "../interventions/interventions.ts";
import type { HeldOutput } from "./held_output.ts";
import { askOnTerminal } from "./terminal_questions.ts";

export interface AttachTerminalOptions {
  interventions: Pick<Interventions, "attach" | "answer">;
  output: HeldOutput;
  /** stdout holds data for a program. */
  json: boolean;
  /** stdin was read to its end, as the message. */
  stdinRead: boolean;
  clock: Clock;
}

/**
 * Lets questions be answered where stdin is a terminal and the question can be seen on one; /dev/tty is never opened. The
 * function ends it.
 */
export function attachTerminal(
  { interventions, output, json, stdinRead, clock }: AttachTerminalOptions,
): () => void {
  const shown = isTerminal("stderr")
    ? process.stderr
    : isTerminal("stdout") && !json
    ? process.stdout
    : undefined;
  if (shown === undefined || stdinRead || !isTerminal("stdin")) return () => {};
  const detach = askOnTerminal({
    interventions,
    input: process.stdin,
    write: (text) => void shown.write(text),
    output,
    clock,
    inForeground: isInForeground,
  });
  return () => {
    detach();
    process.stdin.pause();
  };
}
