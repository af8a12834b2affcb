import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listFiles, REPO } from "../lib/repo.ts";
import { runProcess } from "../lib/run_process.ts";

/** The compiler whose output is committed. Another one makes other bytes of the same source, so they cannot be compared. */
export const COMPILER_VERSION = "12.2.0";

export interface Target {
  /** As in the name of the module that holds the bytes. */
  name: "x86_64" | "aarch64";
  /** The first that is there is used. */
  compilers: readonly string[];
  /** Debian's package of the compiler. */
  debianPackage: string;
  flags: readonly string[];
}

export const TARGETS: readonly Target[] = [
  {
    name: "x86_64",
    compilers: ["x86_64-linux-gnu-gcc-12", "x86_64-linux-gnu-gcc", "gcc-12"],
    debianPackage: "gcc-12-x86-64-linux-gnu (on x86-64: gcc-12)",
    flags: ["-m64"],
  },
  {
    name: "aarch64",
    compilers: ["aarch64-linux-gnu-gcc-12", "aarch64-linux-gnu-gcc"],
    debianPackage: "gcc-12-aarch64-linux-gnu (on arm64: gcc-12)",
    // Atomics out of line would need a library.
    flags: ["-mno-outline-atomics"],
  },
];

const FLAGS = [
  "-std=gnu11",
  "-Os",
  "-Wall",
  "-Wextra",
  "-Werror",
  // No C library, and nothing that would call into one.
  "-ffreestanding",
  "-fno-builtin",
  "-fno-stack-protector",
  "-fno-asynchronous-unwind-tables",
  "-fno-unwind-tables",
  "-nostdlib",
  "-nostartfiles",
  "-static",
  "-no-pie",
  // The same bytes from the same source, wherever it lies and whichever patch level the compiler has.
  "-fno-ident",
  "-frandom-seed=reyn",
  "-Wl,--build-id=none",
  // Small: no padding to large pages, nothing unused, no symbols.
  "-Wl,-z,noseparate-code",
  "-Wl,-z,max-page-size=4096",
  "-Wl,-z,noexecstack",
  "-ffunction-sections",
  "-fdata-sections",
  "-Wl,--gc-sections",
  "-s",
];

export const SOURCE_DIR = join(REPO, "src/sandbox/linux/helper");

/** A digest of everything that the bytes depend on: the sources and how they are built. */
export async function sourceDigest(): Promise<string> {
  const hash = createHash("sha256");
  hash.update(JSON.stringify({ COMPILER_VERSION, FLAGS, flags: TARGETS.map(({ flags }) => flags) }));
  for (const file of await listFiles(SOURCE_DIR, { keep: (path) => /\.[ch]$/.test(path) })) {
    hash.update(`\0${file}\0`).update(await readFile(join(SOURCE_DIR, file)));
  }
  return hash.digest("hex");
}

/** Compiles the helper. Throws with the compiler's words, or with what has to be installed. */
export async function build(target: Target): Promise<Uint8Array> {
  const compiler = await findCompiler(target);
  const sources = await listFiles(SOURCE_DIR, { keep: (path) => path.endsWith(".c") });
  const folder = await mkdtemp(join(tmpdir(), "reyn-helper-"));
  try {
    const output = join(folder, "helper");
    const args = [...FLAGS, ...target.flags, "-o", output, ...sources];
    const result = await runProcess(compiler, args, {
      cwd: SOURCE_DIR,
      env: { LC_ALL: "C", SOURCE_DATE_EPOCH: "0", CPATH: undefined, C_INCLUDE_PATH: undefined },
    });
    if (result.code !== 0) throw new Error(`${compiler} failed:\n${result.output}`);
    return await readFile(output);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function findCompiler(target: Target): Promise<string> {
  const found: string[] = [];
  for (const compiler of target.compilers) {
    const { code, output } = await runProcess(compiler, ["-dumpfullversion"]);
    const machine = code === 0 ? await runProcess(compiler, ["-dumpmachine"]) : undefined;
    if (!machine?.output.startsWith(target.name)) continue;
    if (output.trim() === COMPILER_VERSION) return compiler;
    found.push(`${compiler} is ${output.trim()}`);
  }
  throw new Error(
    `NO COMPILER for ${target.name}: gcc ${COMPILER_VERSION} is needed, Debian 12's package ${target.debianPackage}` +
      (found.length > 0 ? `; ${found.join(", ")}` : ""),
  );
}
