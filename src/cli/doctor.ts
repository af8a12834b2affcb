import process from "node:process";
import { EXIT } from "../errors/exit_codes.ts";
import { openSandbox, type ProbeResult } from "../sandbox/sandbox.ts";
import type { GlobalOptions } from "./host.ts";

/**
 * `reyn doctor`: shows by a run that the sandbox stops what it has to and lets through what it may. Exit 5 when it does
 * not.
 */
export async function doctorVerb(globals: GlobalOptions): Promise<number> {
  const sandbox = openSandbox();
  try {
    const probe = await sandbox.probe();
    if (globals.json) process.stdout.write(`${JSON.stringify({ sandbox: probeFields(probe) })}\n`);
    else if (probe.confirmed) {
      const ms = Math.round(probe.durationMs);
      const what = "landlockAbi" in probe ? `Landlock ABI ${probe.landlockAbi}` : "Seatbelt";
      process.stdout.write(`sandbox: confirmed (${what}, ${ms} ms)\n`);
    } else {
      process.stdout.write(`sandbox: NOT confirmed: ${probe.reason}\n`);
      if (!globals.quiet) process.stderr.write("hooks that run commands are refused here\n");
    }
    return probe.confirmed ? EXIT.ok : EXIT.sandboxUnavailable;
  } finally {
    sandbox.close();
  }
}

function probeFields(probe: ProbeResult) {
  if (!probe.confirmed) return probe;
  const { confirmed, landlockAbi, durationMs } = probe;
  return {
    confirmed,
    ...(landlockAbi === undefined ? {} : { landlock_abi: landlockAbi }),
    duration_ms: Math.round(durationMs),
  };
}
