import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { env } from "node:process";
import { denoPath } from "../lib/deno_path.ts";
import { exists, listFiles, REPO } from "../lib/repo.ts";
import { type ProcessResult, runProcess } from "../lib/run_process.ts";
import type { Stage, StageResult } from "./schedule.ts";

/** Stages that read the source without running it. */
export async function checkStages(): Promise<Stage[]> {
  const needs = ["install"];
  const stages: Stage[] = [
    { name: "install", run: install },
    { name: "types", needs, run: types },
    { name: "lint", needs, run: lint },
    { name: "format", needs, run: () => deno("fmt", "--check") },
    { name: "layers", needs, run: () => denoRun("scripts/check_layers.ts") },
  ];
  if (await exists(join(REPO, "scripts/check_docs.ts"))) {
    stages.push({ name: "docs", needs, run: () => denoRun("scripts/check_docs.ts") });
  }
  return stages;
}

/** A stage without counts of its own counts as one. */
export function asResult(...ended: ProcessResult[]): StageResult {
  const failed = ended.some(({ code }) => code !== 0) ? 1 : 0;
  return { passed: 1 - failed, failed, output: ended.map(({ output }) => output).join("\n") };
}

export async function deno(...args: string[]): Promise<StageResult> {
  return asResult(await runProcess(await denoPath(), args));
}

export function denoRun(script: string, ...args: string[]): Promise<StageResult> {
  return deno("run", "--allow-all", "--cached-only", script, ...args);
}

/** In CI the committed lock file has to be complete: an install that had to change it is a failure. */
async function install(): Promise<StageResult> {
  const installed = await runProcess(await denoPath(), ["install", "--frozen"]);
  if (!env["CI"]) return asResult(installed);
  return asResult(installed, await runProcess("git", ["diff", "--exit-code", "HEAD", "--", "deno.lock"]));
}

async function sources(): Promise<string[]> {
  const files: string[] = [];
  for (const folder of ["src", "test", "scripts"]) {
    const found = await listFiles(join(REPO, folder), {
      keep: (path) => path.endsWith(".ts"),
      skipFolder: (path) => folder === "test" && path === "cases",
    });
    files.push(...found.map((file) => `${folder}/${file}`));
  }
  return files;
}

async function types(): Promise<StageResult> {
  const entries = [
    "mod.ts",
    ...((await exists(join(REPO, "sdk.ts"))) ? ["sdk.ts"] : []),
    ...(await sources()),
  ];
  return {
    ...(await deno("check", "--quiet", "--cached-only", ...entries)),
    note: `${entries.length} files`,
  };
}

async function lint(): Promise<StageResult> {
  const own = await runProcess(await denoPath(), ["lint"]);
  const typed = await oxlint("oxlint.json", "src", "test", "scripts", "mod.ts");
  const probe = await floatingPromiseProbe();
  return asResult(own, typed, probe);
}

async function oxlint(config: string, ...paths: string[]): Promise<ProcessResult> {
  const flags = ["--type-aware", "--deny-warnings", "-c", config];
  const script = ["run", "--allow-all", "--cached-only", "node_modules/oxlint/bin/oxlint"];
  return await runProcess(await denoPath(), [...script, ...flags, ...paths]);
}

/**
 * Proves that the type-aware linter sees types here, of other files and of the platform: it has to flag both promises
 * of the probe, which is ignored otherwise. Without the platform's types it would find nothing, and say nothing.
 */
async function floatingPromiseProbe(): Promise<ProcessResult> {
  const folder = await mkdtemp(join(tmpdir(), "reyn-lint-"));
  try {
    const config: Record<string, unknown> = JSON.parse(await readFile(join(REPO, "oxlint.json"), "utf8"));
    const file = join(folder, "oxlint.json");
    await writeFile(file, JSON.stringify({ ...config, ignorePatterns: [] }));
    const ended = await oxlint(file, "scripts/ci/lint_probe.ts");
    const caught = ended.output.match(/no-floating-promises/g)?.length ?? 0;
    if (ended.code !== 0 && caught === 2) return { ...ended, code: 0, output: "" };
    return { ...ended, code: 1, output: `the linter does not flag floating promises:\n${ended.output}` };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
