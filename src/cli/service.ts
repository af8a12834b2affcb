import { statSync } from "node:fs";
import { basename, resolve } from "node:path";
import process from "node:process";
import { EXIT } from "../errors/exit_codes.ts";
import { ReynError } from "../errors/reyn_error.ts";
import { loadForSession, requireUsable } from "../runtime/configuration.ts";
import { controlDir } from "./control_dir.ts";
import type { GlobalOptions } from "./host.ts";
import { serviceUnit } from "./service_unit.ts";

/** `reyn service print`: a systemd unit for this binary and control folder. */
export function printServiceVerb(
  globals: GlobalOptions,
  options: { binary: string | undefined; user: string | undefined },
): Promise<number> {
  const dir = controlDir(globals.dir);
  const configuration = loadForSession({ controlDir: dir, agent: "default", sid: "main" });
  requireUsable(configuration);
  const text = serviceUnit({
    binary: binaryPath(options.binary),
    controlDir: dir,
    user: options.user,
    graceMs: configuration.shutdownGraceMs,
  });
  process.stdout.write(globals.json ? `${JSON.stringify({ name: "reyn.service", text })}\n` : text);
  if (!globals.quiet && process.stdout.isTTY) {
    process.stderr.write("to install: reyn service print | sudo tee /etc/systemd/system/reyn.service\n");
  }
  return Promise.resolve(EXIT.ok);
}

function binaryPath(given: string | undefined): string {
  const path = resolve(given ?? process.execPath);
  if (given === undefined && /^(deno|bun|node)$/.test(basename(path))) {
    throw new ReynError("E_USAGE", "this reyn runs from its source, so there is no binary to start", {
      fix: "name one with --binary",
      exitCode: EXIT.usage,
    });
  }
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) {
    throw new ReynError("E_USAGE", `there is no file ${path}`, {
      fix: "--binary takes reyn's binary",
      exitCode: EXIT.usage,
    });
  }
  return path;
}
