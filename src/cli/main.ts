import process from "node:process";
import { HOOK_HOST_VERB } from "../decisions/isolate/protocol.ts";
import { EXIT } from "../errors/exit_codes.ts";
import { formatError, isReynError } from "../errors/reyn_error.ts";
import { handleClosedOutput, outputFailed } from "./closed_output.ts";
import type { Host } from "./host.ts";
import { leaveIfWanted } from "./leave.ts";
import { VERSION } from "./version.ts";

/** Runs one command and leaves its exit code with the process. Never shows a stack trace to the operator. */
export async function main(args: readonly string[], host: Host): Promise<void> {
  handleClosedOutput();
  if (args.length === 1 && (args[0] === "--version" || args[0] === "-V")) {
    process.stdout.write(`${VERSION}\n`);
    return;
  }
  if (args.length === 1 && args[0] === HOOK_HOST_VERB) {
    return await (await import("../decisions/isolate/host.ts")).serveHook();
  }
  try {
    const { runProgram } = await import("./program.ts");
    const code = await runProgram(args, host);
    process.exitCode = code === EXIT.ok && outputFailed() ? EXIT.refused : code;
  } catch (error) {
    process.exitCode = await reportFailure(error);
  }
  await leaveIfWanted();
}

async function reportFailure(error: unknown): Promise<number> {
  if (isReynError(error)) {
    process.stderr.write(`${formatError(error)}\n`);
    return error.exitCode;
  }
  const { escapeVisible } = await import("../errors/escape_visible.ts");
  const text = error instanceof Error ? error.message : String(error);
  process.stderr.write(
    `E_INTERNAL ${escapeVisible(text)} (this is a fault in reyn; REYN_DEBUG=1 shows where)\n`,
  );
  if (process.env["REYN_DEBUG"] === "1" && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  return EXIT.refused;
}
