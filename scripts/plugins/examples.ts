import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import type { Buffer } from "node:buffer";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { denoPath } from "../lib/deno_path.ts";
import { exists, REPO } from "../lib/repo.ts";
import { runProcess } from "../lib/run_process.ts";

const PLUGINS = join(REPO, "plugins");

/** The clang whose output is committed. Another one makes other bytes of the same source, so they cannot be compared. */
export const CLANG_VERSION = "14.0.6";

/** Folders of `plugins/` that hold a plugin. */
export const EXAMPLES = ["push_decider", "redacting_notifier", "spawn_gate", "turn_counter"] as const;

export type Built = { ok: true; bytes: Buffer } | { ok: false; problem: string };

/** Runs the example's own build script, with its output elsewhere. */
export async function buildExample(name: string): Promise<Built> {
  const isC = (await readdir(join(PLUGINS, name))).includes(`${name}.c`);
  const clang = isC ? await findClang() : { ok: true as const, path: "" };
  if (!clang.ok) return clang;
  const folder = await mkdtemp(join(tmpdir(), "reyn-plugin-"));
  try {
    const output = join(folder, `${name}.wasm`);
    const { code, output: said } = await runProcess("/bin/sh", [join(PLUGINS, name, "build.sh"), output], {
      env: {
        LC_ALL: "C",
        // clang runs a wasm-opt that it finds there, and node_modules has one for the other compiler.
        PATH: "/usr/local/bin:/usr/bin:/bin",
        CPATH: undefined,
        C_INCLUDE_PATH: undefined,
        CLANG: clang.path,
        ASC: await asc(),
      },
    });
    if (code !== 0) return { ok: false, problem: `build.sh failed:\n${said}` };
    return { ok: true, bytes: await readFile(output) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The AssemblyScript compiler of devDependencies, run by the Deno that is there anyway. */
async function asc(): Promise<string> {
  const script = join(REPO, "node_modules/assemblyscript/bin/asc.js");
  return `${await denoPath()} run --allow-all --cached-only ${script}`;
}

type Clang = { ok: true; path: string } | { ok: false; problem: string };

async function findClang(): Promise<Clang> {
  const found: string[] = [];
  for (const path of ["clang-14", "clang"]) {
    const { code, output } = await runProcess(path, ["--version"]);
    const version = code === 0 ? /version (\d+\.\d+\.\d+)/.exec(output)?.[1] : undefined;
    if (version === undefined) continue;
    const linker = await runProcess(path, ["-print-prog-name=wasm-ld"]);
    if (version === CLANG_VERSION && await exists(linker.output.trim())) return { ok: true, path };
    found.push(version === CLANG_VERSION ? `${path} has no wasm-ld` : `${path} is ${version}`);
  }
  const have = found.length > 0 ? `; ${found.join(", ")}` : "";
  return {
    ok: false,
    problem:
      `NO COMPILER: clang and lld ${CLANG_VERSION} are needed, Debian 12's packages clang and lld${have}`,
  };
}

export async function readCommitted(name: string): Promise<Buffer | undefined> {
  return await readFile(join(PLUGINS, name, `${name}.wasm`)).catch(() => undefined);
}

export async function writeBuilt(name: string, bytes: Uint8Array): Promise<void> {
  await writeFile(join(PLUGINS, name, `${name}.wasm`), bytes);
}
