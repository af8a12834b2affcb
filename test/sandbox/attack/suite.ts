import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { FIXED_PATH } from "../../../src/sandbox/environment.ts";
import { openSandbox } from "../../../src/sandbox/sandbox.ts";
import type { AttackCase } from "./attack_case.ts";
import { buildAttacker } from "./build_attacker.ts";
import { kernelCases } from "./cases_kernel.ts";
import { networkCases } from "./cases_network.ts";
import { processCases } from "./cases_processes.ts";
import { readCases } from "./cases_reads.ts";
import { writeCases } from "./cases_writes.ts";
import { inheritedDescriptors, inheritedThroughReyn } from "./inherited_case.ts";
import { type KillCase, runKillCase } from "./kill_cases.ts";
import { throughReyn } from "./reyn_runner.ts";
import { bareRunner, type CaseResult, command, confinedRunner, runCase } from "./run_case.ts";
import { type Surroundings, surroundings } from "./world.ts";

export const ALL_CASES: readonly AttackCase[] = [
  ...processCases,
  ...networkCases,
  ...writeCases,
  ...readCases,
  ...kernelCases,
];

/** The first few of every family. */
export function quickCases(perFamily: number): AttackCase[] {
  const seen = new Map<number, number>();
  return ALL_CASES.filter(({ family }) => {
    const count = (seen.get(family) ?? 0) + 1;
    seen.set(family, count);
    return count <= perFamily;
  });
}

const PROGRAMS = [
  ...[
    "bash",
    "dash",
    "python3",
    "node",
    "perl",
    "jq",
    "git",
    "curl",
    "sqlite3",
    "openssl",
    "java",
    "cat",
    "touch",
  ],
];

/** Deno and Bun are where the one that runs us, or the caller, says. */
export interface SuiteOptions {
  /** The attacker, where it is built already. */
  attacker?: string;
  deno?: string;
  bun?: string;
}

export interface Suite {
  shared: Surroundings;
  /** One case: confined by the sandbox itself, as a hook of the given reyn, or, as the control, not at all. */
  run(attack: AttackCase, how: "confined" | "bare" | { reyn: string }): Promise<CaseResult>;
  /** What must be gone afterwards; throws. */
  kill(test: KillCase): Promise<void>;
  /** Descriptors that a runtime, or who starts the given reyn, leaves open; throws. Gives how many cases it was. */
  inherited(reyn?: string): Promise<number>;
  close(): Promise<void>;
}

export async function openSuite(options: SuiteOptions = {}): Promise<Suite> {
  const attacker = options.attacker ?? await buildAttacker();
  const shared = await surroundings(attacker, findPrograms(options));
  const folder = mkdtempSync(path.join(realpathSync(tmpdir()), "reyn-attack-helper-"));
  shared.mounts = await canMount(folder);
  const helperFolder = path.join(folder, "helper");
  const sandbox = openSandbox({ helperFolders: [helperFolder] });
  const probe = await sandbox.probe();
  if (!probe.confirmed) throw new Error(`the sandbox is not confirmed: ${probe.reason}`);
  return {
    shared,
    run(attack, how) {
      if (how === "bare") return runCase(attack, shared, bareRunner);
      return runCase(attack, shared, how === "confined" ? confinedRunner(sandbox) : throughReyn(how.reyn));
    },
    kill: (test) => runKillCase(test, shared, sandbox, helperFolder),
    async inherited(reyn) {
      if (reyn !== undefined) return await inheritedThroughReyn(shared, reyn);
      const helper = readdirSync(helperFolder).find((name) => name.startsWith("reyn-helper-")) ?? "";
      return await inheritedDescriptors(shared, path.join(helperFolder, helper));
    },
    async close() {
      shared.close();
      // The last two are what attacks make where nothing stops them: in the control.
      const made = [path.join(realpathSync(tmpdir()), "reyn-attack-made"), "/dev/shm/reyn-attack"];
      for (const left of [folder, ...made]) rmSync(left, { recursive: true, force: true });
    },
  };
}

function findPrograms(options: SuiteOptions): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of PROGRAMS) {
    const file = FIXED_PATH.split(":").map((folder) => path.join(folder, name)).find((candidate) =>
      existsSync(candidate)
    );
    if (file !== undefined) found[name] = file;
  }
  const own = "deno" in process.versions ? "deno" : "bun" in process.versions ? "bun" : undefined;
  if (own) found[own] = process.execPath;
  if (options.deno) found["deno"] = options.deno;
  if (options.bun) found["bun"] = options.bun;
  return found;
}

async function canMount(folder: string): Promise<boolean> {
  const point = path.join(folder, "point");
  mkdirSync(point);
  if (!await command("mount", ["--bind", folder, point])) return false;
  return await command("umount", [point]);
}
