import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Configuration, type LayersOptions, loadConfiguration } from "../../src/config/load_layers.ts";
import { formatFinding } from "../../src/errors/finding.ts";

/** A control folder and a home of a test's own. */
export interface Scratch {
  controlDir: string;
  home: string;
  /** Writes a file below the control folder, or below the home for `~/…`. */
  write(path: string, text: string): void;
  load(options: Pick<LayersOptions, "sections"> & Partial<LayersOptions>): Configuration;
  remove(): void;
}

export function scratch(files: Readonly<Record<string, string>> = {}): Scratch {
  const root = mkdtempSync(join(tmpdir(), "reyn-config-"));
  const controlDir = join(root, "control");
  const home = join(root, "home");
  mkdirSync(controlDir);
  mkdirSync(home);
  const write = (path: string, text: string) => {
    const full = path.startsWith("~/") ? join(home, path.slice(2)) : join(controlDir, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, text);
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  return {
    controlDir,
    home,
    write,
    load: (options) => loadConfiguration({ controlDir, home, env: {}, ...options }),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** Loads the files and gives the findings as the operator reads them. */
export function findingsOf(
  files: Readonly<Record<string, string>>,
  options: Pick<LayersOptions, "sections"> & Partial<LayersOptions>,
): string[] {
  const place = scratch(files);
  try {
    return place.load(options).findings.map(formatFinding);
  } finally {
    place.remove();
  }
}
