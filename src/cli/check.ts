import process from "node:process";
import { EXIT } from "../errors/exit_codes.ts";
import { formatFinding, isError } from "../errors/finding.ts";
import { loadForSession } from "../runtime/configuration.ts";
import { controlDir } from "./control_dir.ts";
import type { GlobalOptions } from "./host.ts";

/** `reyn check`: all findings of all layers at once; exit 1 when one of them is an error. */
export async function checkVerb(globals: GlobalOptions): Promise<number> {
  const { findings, layers } = loadForSession({
    controlDir: controlDir(globals.dir),
    agent: globals.agent,
    sid: globals.session,
  });
  const errors = findings.filter(isError).length;
  if (globals.json) {
    process.stdout.write(`${JSON.stringify({ ok: errors === 0, findings, layers })}\n`);
  } else {
    for (const finding of findings) process.stdout.write(`${formatFinding(finding)}\n`);
    if (!globals.quiet) process.stderr.write(`${summary(errors, findings.length - errors)}\n`);
  }
  return errors > 0 ? EXIT.refused : EXIT.ok;
}

function summary(errors: number, warnings: number): string {
  const count = (n: number, word: string) => `${n} ${word}${n === 1 ? "" : "s"}`;
  if (errors === 0 && warnings === 0) return "ok";
  return `${count(errors, "error")}, ${count(warnings, "warning")}`;
}
