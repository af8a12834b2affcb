import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { exists, REPO } from "../lib/repo.ts";
import { bunBuild } from "./bun_build.ts";
import { denoBuild, hasBaseBinary } from "./deno_build.ts";
import { hashInputs, PROGRAMS } from "./inputs.ts";

export type Compiler = "bun" | "deno";

export interface BuildOptions {
  /** Default: deno where its base binary is at hand, else bun. */
  with?: Compiler;
  root?: string;
  /** Builds even when nothing changed. */
  force?: boolean;
}

export interface BuildResult {
  compiler: Compiler;
  files: string[];
  /** Nothing had changed since the last build. */
  unchanged: boolean;
}

/** Makes `dist/reyn` and `dist/reyn-test`, or leaves them when their inputs are those of the last build. */
export async function build(options: BuildOptions = {}): Promise<BuildResult> {
  const root = options.root ?? REPO;
  const compiler = options.with ?? ((await hasBaseBinary(root)) ? "deno" : "bun");
  const folder = join(root, "dist");
  const stampFile = join(folder, ".stamp");
  const files = PROGRAMS.map((program) => join(folder, program.name));
  const stamp = `${compiler} ${await hashInputs(compiler, root)}\n`;
  const last = await readFile(stampFile, "utf8").catch(() => "");
  const present = (await Promise.all(files.map(exists))).every(Boolean);
  if (last === stamp && present && !options.force) return { compiler, files, unchanged: true };

  await mkdir(folder, { recursive: true });
  try {
    await Promise.all(
      PROGRAMS.map((program) =>
        compiler === "bun" ? bunBuild(program, folder, root) : denoBuild(program, folder, { root })
      ),
    );
  } finally {
    await rm(join(folder, ".unfinished"), { recursive: true, force: true });
  }
  await writeFile(stampFile, stamp);
  return { compiler, files, unchanged: false };
}
