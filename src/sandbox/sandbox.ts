import process from "node:process";
import type { Finding } from "../errors/finding.ts";
import { checkGrants } from "./check_grants.ts";
import { type HelperLoad, loadHelper } from "./linux/helper_bytes.ts";
import { type ChildOptions, type ChildStart, startConfined } from "./linux/confined_child.ts";
import { helperFolders } from "./linux/helper_folders.ts";
import { installHelper } from "./linux/install_helper.ts";
import { openKeeper } from "./linux/keeper.ts";
import { type ProbeResult as LandlockProbe, selfTest } from "./linux/probe.ts";
import { runConfined, type RunOptions } from "./linux/run.ts";
import { type SeatbeltProbe, seatbeltSelfTest } from "./macos/probe.ts";
import { runSeatbelt, SANDBOX_EXEC } from "./macos/run.ts";
import type { SandboxPolicy } from "./policy.ts";
import { type ResolvedProgram, resolveProgram } from "./program.ts";
import type { SandboxRun } from "./result.ts";

/** Exec processes that may run at once in one reyn. */
const MOST_AT_ONCE = 8;

/** What the self test found; `landlockAbi` where it is Landlock that confines. */
export type ProbeResult = LandlockProbe | SeatbeltProbe;

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
  /** Starts a confined program that stays and is talked to; the limit above does not count it. Never throws. */
  start(options: ChildOptions): Promise<ChildStart>;
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
  /** The program that applies a Seatbelt profile. Default: the system's. */
  sandboxExec?: string;
}

interface Ready {
  result: ProbeResult;
  /** There is one when the self test passed. */
  run?: (request: RunOptions) => Promise<SandboxRun>;
  start?: (request: ChildOptions) => ChildStart;
  close?: () => void;
}

export function openSandbox(options: SandboxOptions = {}): Sandbox {
  const platform = options.platform ?? process.platform;
  const arch = options.arch ?? process.arch;
  const folders = options.helperFolders ?? helperFolders();
  const load = options.loadHelper ?? loadHelper;
  let ready: Promise<Ready> | undefined;
  const prepare = () => (ready ??= open());
  const open = async (): Promise<Ready> => {
    switch (platform) {
      case "linux":
        return await prepareLinux(() => load(arch), folders);
      case "darwin":
        return await prepareMacos(options.sandboxExec ?? SANDBOX_EXEC);
      default:
        return unconfirmed(`there is no sandbox for ${platform}`);
    }
  };
  const turns = turnTaker(MOST_AT_ONCE);

  return {
    close() {
      void ready?.then(({ close }) => close?.());
    },
    probe: async () => (await prepare()).result,
    checkGrants,
    resolveProgram: (name, controlDir) => resolveProgram(name, { controlDir, arch, platform }),
    async start(request) {
      const { result, start } = await prepare();
      if (!result.confirmed) return { ok: false, reason: result.reason };
      if (!start) return { ok: false, reason: `plugins do not run on ${platform} yet` };
      return start(request);
    },
    async run(request) {
      const { result, run } = await prepare();
      if (!result.confirmed) return refusedRun(result.reason);
      if (!run) return refusedRun("there is no helper");
      const done = await turns.take();
      try {
        return await run(request);
      } catch (error) {
        return refusedRun(error instanceof Error ? error.message : String(error));
      } finally {
        done();
      }
    },
  };
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
    const helper = install.installed;
    const result = await selfTest(helper);
    if (!result.confirmed) {
      helper.close();
      reasons.push(result.reason);
      continue;
    }
    const keeper = openKeeper(helper);
    return {
      result,
      run: (request) => runConfined(helper, keeper, request),
      start: (request) => startConfined(helper, keeper, request),
      close() {
        keeper.close();
        helper.close();
      },
    };
  }
  return unconfirmed([...new Set(reasons)].join("; "));
}

async function prepareMacos(sandboxExec: string): Promise<Ready> {
  const result = await seatbeltSelfTest(sandboxExec);
  return result.confirmed ? { result, run: (request) => runSeatbelt(sandboxExec, request) } : { result };
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
