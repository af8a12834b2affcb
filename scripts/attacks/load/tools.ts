import type { ChildProcess } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { type ReynRun, runReyn } from "../../../test/sandbox/attack/reyn_runner.ts";

/** One thing that `reyn run` has to stand while its hooks misbehave. */
export interface LoadCase {
  name: string;
  /** Gives its figures as text; throws when something is not as it should be. */
  run(tools: LoadTools): Promise<string>;
}

export interface LoadTools {
  attacker: string;
  deno: string;
  bun: string;
  /** A control folder of its own, with an `out` that hooks may be granted. */
  controlDir: string;
  /** In the environment of every process of a hook, by which what is left is found. */
  token: string;
  /** Runs a session with these hooks; each is given `on` and `name` where it has none. */
  start(
    hooks: Hook[],
    options?: { message?: string; during?: (watch: Watch) => Promise<void> },
  ): Promise<Watched>;
  /** Processes of hooks and their helpers. */
  alive(): number[];
  /** Waits until that is none, at most 2 s; gives the milliseconds, throws when some are left. */
  gone(): Promise<number>;
}

export type Hook = Record<string, unknown> & ({ exec: string[] } | { exec_capture: string[] });

export interface Watch {
  /** Of the runtime. */
  pid: number;
  child: ChildProcess;
}

export interface Watched extends ReynRun {
  /** Most memory that the runtime ever had, in MiB (VmHWM), as last seen. */
  peakMib: number;
  /** Most processes of hooks, with their helpers, that were seen at once. */
  mostProcesses: number;
  /** `hook_shell_executed`, in their order. */
  executed: Record<string, unknown>[];
}

const SAMPLE_MS = 25;
let count = 0;

export async function runLoadCase(
  test: LoadCase,
  given: { reyn: string; attacker: string; deno: string; bun: string },
): Promise<string> {
  const root = mkdtempSync(path.join(realpathSync(tmpdir()), "reyn-load-"));
  const [controlDir, home] = [path.join(root, "control"), path.join(root, "home")];
  mkdirSync(path.join(controlDir, "out"), { recursive: true });
  mkdirSync(home);
  const token = `reyn-load-${process.pid}-${++count}`;
  const runtimes = new Set<number>();
  const alive = () => withToken(token).filter((pid) => !runtimes.has(pid));
  try {
    const figures = await test.run({
      ...given,
      controlDir,
      token,
      alive,
      gone: () => gone(alive),
      start: (hooks, options = {}) =>
        watched(hooks, options, { ...given, controlDir, home, token, runtimes, alive }),
    });
    await gone(alive);
    return figures;
  } finally {
    for (const pid of alive()) kill(pid);
    rmSync(root, { recursive: true, force: true });
  }
}

async function watched(
  hooks: readonly Hook[],
  options: { message?: string; during?: (watch: Watch) => Promise<void> },
  around: {
    reyn: string;
    controlDir: string;
    home: string;
    token: string;
    runtimes: Set<number>;
    alive: () => number[];
  },
): Promise<Watched> {
  const { reyn, controlDir, home, token, runtimes, alive } = around;
  const full = hooks.map((hook, i) => ({
    on: "session_start",
    name: `hook-${i}`,
    env: ["LOAD_CASE"],
    ...hook,
  }));
  writeFileSync(
    path.join(controlDir, "reyn.yaml"),
    JSON.stringify({ model: { provider: "echo" }, hooks: full }),
  );
  let peakMib = 0;
  let mostProcesses = 0;
  let timer: ReturnType<typeof setInterval> | undefined;
  let during: Promise<void> = Promise.resolve();
  const run = await runReyn({
    reyn,
    controlDir,
    home,
    env: { LOAD_CASE: token },
    ...(options.message === undefined ? {} : { message: options.message }),
    onStart(child) {
      const pid = child.pid ?? 0;
      runtimes.add(pid);
      timer = setInterval(() => {
        peakMib = Math.max(peakMib, Number(/VmHWM:\s+(\d+)/.exec(readOf(pid, "status"))?.[1] ?? 0) / 1024);
        mostProcesses = Math.max(mostProcesses, alive().length);
      }, SAMPLE_MS);
      during = options.during?.({ pid, child }) ?? during;
      during.catch(() => child.kill("SIGKILL"));
    },
  });
  clearInterval(timer);
  await during;
  const executed = run.audit.filter(({ type }) => type === "hook_shell_executed").map(({ data }) => data);
  return { ...run, peakMib: Math.round(peakMib), mostProcesses, executed };
}

async function gone(alive: () => number[]): Promise<number> {
  const began = performance.now();
  for (;;) {
    const left = alive();
    const waited = performance.now() - began;
    if (left.length === 0) return Math.round(waited);
    if (waited > 2000) {
      throw new Error(`left after 2 s: ${left.map((pid) => readOf(pid, "cmdline")).join("; ")}`);
    }
    await pause(10);
  }
}

/** Waits for something to become true, at most 20 s. */
export async function until(what: string, isSo: () => boolean): Promise<void> {
  for (let waited = 0; !isSo(); waited += 10) {
    if (waited > 20_000) throw new Error(`it did not come to: ${what}`);
    await pause(10);
  }
}

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

function withToken(token: string): number[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map(Number)
    .filter((pid) => readOf(pid, "environ").split("\0").includes(`LOAD_CASE=${token}`));
}

/** Whether it is the helper of a command, and not the command. */
export const isHelper = (pid: number) => readOf(pid, "cmdline").includes("--report-fd");

/** Empty for the dead and the gone. */
export function readOf(pid: number, file: "environ" | "cmdline" | "status"): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}

export function kill(pid: number): void {
  if (pid <= 1) return;
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has gone by itself.
  }
}
