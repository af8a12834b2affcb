import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { env } from "node:process";
import { denoPath } from "../lib/deno_path.ts";
import { exists } from "../lib/repo.ts";
import { runProcess } from "../lib/run_process.ts";
import type { Program } from "./inputs.ts";

/** The whole dependency tree is bundled; else every package of node_modules, the tools too, would be embedded. */
export const DENO_FLAGS = ["--allow-all", "--no-prompt", "--frozen", "--bundle", "--minify"];

export interface DenoBuildOptions {
  root: string;
  /** Stands in for the base binary: the pass then checks everything, and its result is no program. */
  baseBinary?: string;
}

/** Builds one program into `folder`. Throws, and says so, when Deno's base binary cannot be had. */
export async function denoBuild(program: Program, folder: string, options: DenoBuildOptions): Promise<void> {
  const unfinished = join(folder, ".unfinished", program.name);
  await mkdir(join(folder, ".unfinished"), { recursive: true });
  const args = ["compile", ...DENO_FLAGS, "--app-name", program.name, "-o", unfinished, program.entry];
  const { code, output } = await runProcess(await denoPath(options.root), args, {
    cwd: options.root,
    env: options.baseBinary === undefined ? {} : { DENORT_BIN: options.baseBinary },
  });
  if (code === 0) return await rename(unfinished, join(folder, program.name));
  const missing = /denort[^\s]*\.zip/.exec(output);
  if (missing && /Setting up base binary/i.test(output)) {
    throw new Error(
      `deno compile needs its base binary, and ${missing[0]} could not be downloaded; ` +
        `set DENORT_BIN to one, or build with --with=bun`,
    );
  }
  throw new Error(`deno compile of ${program.entry} failed (exit ${code})\n${output}`);
}

/** Whether `deno compile` would find its base binary without the network. */
export async function hasBaseBinary(root: string): Promise<boolean> {
  if (env["DENORT_BIN"]) return true;
  const info = await runProcess(await denoPath(root), ["info", "--json"], { cwd: root });
  const version = await runProcess(await denoPath(root), ["--version"], { cwd: root });
  const number = /^deno (\S+) \(.*, (\S+)\)/m.exec(version.output);
  const denoDir = /"denoDir":\s*"([^"]+)"/.exec(info.output)?.[1];
  if (!number || denoDir === undefined) return false;
  return await exists(join(denoDir, "dl", "release", `v${number[1]}`, `denort-${number[2]}.zip`));
}
