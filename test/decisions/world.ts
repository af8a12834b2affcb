import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { systemClock } from "../../src/clock/clock.ts";
import { type ConfigPlace, findConfig } from "../../src/decisions/find_config.ts";
import type { LoadDeps } from "../../src/decisions/load_decisions.ts";
import { formatFinding } from "../../src/errors/finding.ts";
import { isReynError } from "../../src/errors/reyn_error.ts";

export interface World {
  dir: string;
  write(files: Record<string, string>): Promise<void>;
  /** The declaration as `--config` names it. */
  config(yaml: string): Promise<ConfigPlace>;
  deps: LoadDeps;
}

/** A folder of files for one test, removed afterwards. */
export async function inWorld(run: (world: World) => Promise<void>): Promise<void> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), "reyn-decisions-")));
  const write = async (files: Record<string, string>) => {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(dir, path)), { recursive: true });
      await writeFile(join(dir, path), text);
    }
  };
  try {
    await run({
      dir,
      write,
      async config(yaml) {
        await write({ "cli-config.yaml": yaml });
        const configFile = join(dir, "cli-config.yaml");
        const place = findConfig({ controlDir: dir, home: join(dir, "home"), configFile });
        if (!place) throw new Error("no place");
        return place;
      },
      deps: { clock: systemClock, home: join(dir, "home"), env: (name) => process.env[name] },
    });
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** The lines of the error that a promise rejects with. */
export async function rejection(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    if (!isReynError(error)) throw error;
    return error.findings.map(formatFinding).join("\n");
  }
  throw new Error("was not rejected");
}
