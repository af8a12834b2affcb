import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Finding } from "../errors/finding.ts";
import { finding } from "../errors/reyn_error.ts";

/** Names that people write for files that reyn reads under another, by the right one; relative to the control folder. */
const IN_CONTROL_DIR: readonly (readonly [string, string])[] = [
  ["reyn.yml", "reyn.yaml"],
  ["reyn.local.yml", "reyn.local.yaml"],
  [".reyn/hooks.yaml", ".reyn/config/hooks.yaml"],
  [".reyn/hooks.yml", ".reyn/config/hooks.yaml"],
  [".reyn/config/hooks.yml", ".reyn/config/hooks.yaml"],
  [".reyn/config.yaml", "reyn.yaml"],
];
const IN_HOME: readonly (readonly [string, string])[] = [
  [".reyn/config.yml", ".reyn/config.yaml"],
  [".reyn/reyn.yaml", ".reyn/config.yaml"],
];

/** Files that would be read if they were called otherwise: what they declare would be ignored in silence. */
export function nearNames(controlDir: string, home: string): Finding[] {
  const found = (folder: string, shown: string, names: typeof IN_HOME) =>
    names.filter(([name]) => existsSync(join(folder, name))).map(([name, right]) =>
      finding("W_FILE_NAME", "reyn does not read a file of this name", {
        place: { file: shown + name, line: 1, column: 1 },
        fix: `call it ${shown}${right}`,
      })
    );
  // With the home as control folder one file would be told twice.
  const inHome = controlDir === home ? [] : found(home, "~/", IN_HOME);
  const own = IN_CONTROL_DIR.filter(([name]) => controlDir !== home || name !== ".reyn/config.yaml");
  return [...inHome, ...found(controlDir, "", own)];
}
