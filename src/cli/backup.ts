import { resolve } from "node:path";
import process from "node:process";
import { EXIT } from "../errors/exit_codes.ts";
import { escapeVisible } from "../errors/escape_visible.ts";
import { backUp } from "../runtime/backup.ts";
import { controlDir } from "./control_dir.ts";
import type { GlobalOptions, Host } from "./host.ts";
import { VERSION } from "./version.ts";

/** `reyn backup TARGET`: also while a server runs, which is not asked and not held up. */
export async function backupVerb(
  globals: GlobalOptions,
  target: string,
  { approvals }: { approvals: boolean },
  host: Host,
): Promise<number> {
  const report = await backUp({
    controlDir: controlDir(globals.dir),
    target: resolve(target),
    approvals,
    reyn: VERSION,
    host,
  });
  if (globals.json) process.stdout.write(`${JSON.stringify(report)}\n`);
  else process.stdout.write(`${escapeVisible(report.target)}  ${report.bytes} bytes, checked\n`);
  if (!globals.quiet && report.left_out.length > 0) {
    process.stderr.write(
      `left out: ${report.left_out.length} pending files of composers; name a folder to keep them too\n`,
    );
  }
  return EXIT.ok;
}
