import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** Programs that stand where sandbox-exec would. */
export interface StandIns {
  /** Runs the rest of its arguments, confined by nothing. */
  merelyExecutes: string;
  /** Has Linux enforce what the profile says. */
  enforces: string;
  /** A shell script of a test's own. */
  script(text: string): string;
  remove(): void;
}

export function makeStandIns(): StandIns {
  const root = mkdtempSync(path.join(realpathSync(os.tmpdir()), "reyn-stand-in-"));
  let count = 0;
  const script = (text: string) => {
    const file = path.join(root, `sandbox-exec-${++count}`);
    writeFileSync(file, `#!/bin/sh\n${text}\n`);
    chmodSync(file, 0o755);
    return file;
  };
  const translator = fileURLToPath(new URL("stand_in.ts", import.meta.url));
  const command = "Bun" in globalThis
    ? `'${process.execPath}' '${translator}'`
    : `'${process.execPath}' run -A --no-check --cached-only '${translator}'`;
  return {
    merelyExecutes: script('shift 2\nexec "$@"'),
    enforces: script(`HOME='${os.homedir()}' exec ${command} "$@"`),
    script,
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}
