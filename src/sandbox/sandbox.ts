import os from "node:os";
import path from "node:path";
import process from "node:process";
import type { Finding } from "../errors/finding.ts";
import { checkGrants } from "./check_grants.ts";
import { type HelperLoad, loadHelper } from "./linux/helper_bytes.ts";
import { type InstalledHelper, installHelper } from "./linux/install_helper.ts";
import { type Keeper, openKeeper } from "./linux/keeper.ts";
import { type ProbeResult, selfTest } from "./linux/probe.ts";
import { runConfined, type RunOptions } from "./linux/run.ts";
import type { SandboxPolicy } from "./policy.ts";
import { type ResolvedProgram, resolveProgram } from "./program.ts";
import type { SandboxRun } from "./result.ts";

/** Exec processes that may run at once in one reyn. */
const MOST_AT_ONCE = 8;

export interface Sandbox {
  /** The self test, run once in a process, before the first program. Never fails. */
  probe(): Promise<ProbeResult>;
  /** What is wrong with a hook's grants; looks at the disk. */
  checkGrants(policy: SandboxPolicy): Finding[];
  /** What a hook's `argv[0]` names. */
  resolveProgram(name: string, controlDir: string): ResolvedProgram;
  /**
   * Runs a program confined and comes back when it and all that came from it are gone. At most 8 run at once, others wait their
   * turn. Never without the sandbox: `sandbox_unconfirmed` when the self test did not pass. Never throws.
   */
  run(options: RunOptions): Promise<SandboxRun>;
  /** Lets go of what is held between runs; nothing may run afterwards. */
  close(): void;
}

export interface SandboxOptions {
  /** Folders for the helper, in the order they are tried. Default: `~/.reyn/helper`, then one of ours among temporary files. */
  helperFolders?: readonly string[];
  /** Default: this machine. */
  platform?: string;
  arch?: string;
  /** Default: the embedded one. */
  loadHelper?: (arch: string) => Promise<HelperLoad>;
}

type Ready = { result: ProbeResult; helper?: InstalledHelper; keeper?: Keeper };

export function openSandbox(options: SandboxOptions = {}): Sandbox {
  const platform = options.platform ?? process.platform;
  const arch = options.arch ?? process.arch;
  const folders = options.helperFolders ?? defaultFolders();
  const load = options.loadHelper ?? loadHelper;
  let ready: Promise<Ready> | undefined;
  const prepare =
    () => (ready ??= platform === "linux"
      ? prepareLinux(() => load(arch), folders)
      : Promise.resolve(unconfirmed(`there is no sandbox for ${platform}`)));
  const turns = turnTaker(MOST_AT_ONCE);

  return {
    close() {
      void ready?.then(({ helper, keeper }) => {
        keeper?.close();
        helper?.close();
      });
    },
    probe: async () => (await prepare()).result,
    checkGrants,
    resolveProgram: (name, controlDir) => resolveProgram(name, { controlDir, arch }),
    async run(request) {
      const { result, helper, keeper } = await prepare();
      if (!result.confirmed) return refusedRun(result.reason);
      if (!helper || !keeper) return refusedRun("there is no helper");
      const done = await turns.take();
      try {
        return await runConfined(helper, keeper, request);
      } catch (error) {
        return refusedRun(error instanceof Error ? error.message : String(error));
      } finally {
        done();
      }
    },
  };
}

function defaultFolders(): string[] {
  const { uid, homedir } = os.userInfo();
  return [path.join(homedir, ".reyn/helper"), path.join(os.tmpdir(), `reyn-helper-${uid}`)];
}

/** The first folder from which the helper passes the self test: one may be mounted so that nothing in it can be executed. */
async function prepareLinux(load: () => Promise<HelperLoad>, folders: readonly string[]): Promise<Ready> {
  const loaded = await load();
  if (!loaded.ok) return unconfirmed(loaded.reason);
  const reasons: string[] = [];
  for (const folder of folders) {
    const install = installHelper(loaded.helper, folder);
    if (!install.ok) {
      reasons.push(install.reason);
      continue;
    }
    const result = await selfTest(install.installed);
    if (result.confirmed) return { result, helper: install.installed, keeper: openKeeper(install.installed) };
    install.installed.close();
    reasons.push(result.reason);
  }
  return unconfirmed([...new Set(reasons)].join("; "));
}

function unconfirmed(reason: string): Ready {
  return { result: { confirmed: false, reason } };
}

function refusedRun(reason: string): SandboxRun {
  return {
    outcome: "sandbox_unconfirmed",
    returncode: -1,
    signal: null,
    stdout: new Uint8Array(),
    stdoutText: "",
    stderrTail: "",
    reason,
    denial: null,
    denied: null,
    leftKilled: 0,
    durationMs: 0,
  };
}

/** Lets so many in at once, in the order they came. */
function turnTaker(most: number) {
  let free = most;
  const waiting: (() => void)[] = [];
  const leave = () => {
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  };
  return {
    async take(): Promise<() => void> {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      return leave;
    },
  };
}
