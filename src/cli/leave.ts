import process from "node:process";

let wanted = false;

/**
 * Asks for the process to be ended when the command is done, for one that ran an operator's code in this process: a timer or
 * a connection that it left behind would hold the process for ever.
 */
export function leaveAtEnd(): void {
  wanted = true;
}

/** Ends the process, once what was printed is out, where that was asked for. */
export async function leaveIfWanted(): Promise<void> {
  if (!wanted) return;
  for (const stream of [process.stdout, process.stderr]) {
    await new Promise<void>((resolve) => {
      stream.write("", () => resolve());
    });
  }
  process.exit();
}
