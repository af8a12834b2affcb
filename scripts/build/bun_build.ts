import { chmod, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { bunPath } from "../lib/bun_path.ts";
import { runProcess } from "../lib/run_process.ts";
import type { Program } from "./inputs.ts";

/** Without the last two, a binary would run what `.env` and `bunfig.toml` of its working directory say. */
export const BUN_FLAGS = [
  "--compile",
  "--minify",
  "--bytecode",
  "--format=esm",
  // Each lazily imported verb is a chunk of its own, so that \`--version\` does not load the rest.
  "--splitting",
  "--sourcemap",
  "--no-compile-autoload-dotenv",
  "--no-compile-autoload-bunfig",
];

/** Builds one program into `folder`; the file appears there whole or not at all. */
export async function bunBuild(program: Program, folder: string, root: string): Promise<void> {
  const target = join(folder, program.name);
  // The output's name is baked into the binary, so the unfinished one has to carry it too.
  const unfinished = join(folder, ".unfinished", program.name);
  const args = ["build", ...BUN_FLAGS, `--outfile=${unfinished}`, program.entry];
  const { code, output } = await runProcess(await bunPath(root), args, {
    cwd: root,
    env: { BUN_OPTIONS: undefined },
  });
  if (code !== 0) throw new Error(`bun build of ${program.entry} failed (exit ${code})\n${output}`);
  await chmod(unfinished, 0o755);
  await rename(unfinished, target);
  await rm(`${unfinished}.map`, { force: true });
}
