import process from "node:process";
import { EXIT } from "../errors/exit_codes.ts";
import { formatError, ReynError } from "../errors/reyn_error.ts";

let readerNeeded = true;
let failed = false;

/**
 * Decides what becomes of output that cannot be written. A reader that has gone (`reyn events | head`) ends a listing
 * quietly; a closed stderr is no reason to stop.
 */
export function handleClosedOutput(): void {
  process.stderr.on("error", () => {});
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    const gone = error.code === "EPIPE" || error.code === "ERR_STREAM_DESTROYED";
    if (!gone && !failed) {
      failed = true;
      process.stderr.write(
        `${formatError(new ReynError("E_OUTPUT", `standard output: ${error.message}`))}\n`,
      );
    }
    if (readerNeeded) process.exit(failed ? EXIT.refused : EXIT.ok);
  });
}

/** From here on the command goes on to its end when its output cannot be written. */
export function goOnWithoutReader(): void {
  readerNeeded = false;
}

/** Whether output was lost for another reason than that its reader had gone. */
export function outputFailed(): boolean {
  return failed;
}
