import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exit } from "node:process";
import { denoBuild } from "./build/deno_build.ts";
import { PROGRAMS } from "./build/inputs.ts";
import { REPO } from "./lib/repo.ts";

/**
 * Runs the whole `deno compile` pass (types, module graph, bundling, flags) of every program with a stand-in for the
 * base binary. The result is no program and is thrown away.
 */
const folder = await mkdtemp(join(tmpdir(), "deno-compile-gate-"));
try {
  for (const program of PROGRAMS) {
    await denoBuild(program, folder, { root: REPO, baseBinary: "/bin/true" });
    const { size } = await stat(join(folder, program.name));
    if (size === 0) throw new Error(`deno compile of ${program.entry} wrote an empty file`);
    console.log(`${program.entry}: ${(size / 1e6).toFixed(1)} MB`);
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  exit(1);
} finally {
  await rm(folder, { recursive: true, force: true });
}
