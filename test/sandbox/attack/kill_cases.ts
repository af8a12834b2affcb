import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { systemClock } from "../../../src/clock/clock.ts";
import { FIXED_PATH } from "../../../src/sandbox/environment.ts";
import type { RunOptions } from "../../../src/sandbox/linux/run.ts";
import { FLOOR, type Grants } from "../../../src/sandbox/policy.ts";
import type { SandboxRun } from "../../../src/sandbox/result.ts";
import type { Sandbox } from "../../../src/sandbox/sandbox.ts";
import { makeWorld, removeWorld, type Surroundings, type World } from "./world.ts";

/** What must be gone, or must not hang, when a run ends: family 43. */
export interface KillCase {
  name: string;
  run(tools: KillTools): Promise<void>;
}

export interface KillTools {
  world: World;
  /** In the environment of every process of this case, by which what is left is found. */
  token: string;
  start(argv: string[], options?: StartOptions): Promise<SandboxRun>;
  helperFolder: string;
}

type StartOptions = Partial<Omit<RunOptions, "policy" | "argv">> & { grants?: Partial<Grants> };

let count = 0;

export async function runKillCase(
  test: KillCase,
  shared: Surroundings,
  sandbox: Sandbox,
  helperFolder: string,
): Promise<void> {
  const world = makeWorld(shared);
  const token = `reyn-kill-${process.pid}-${++count}`;
  try {
    await test.run({
      world,
      token,
      helperFolder,
      start: (argv, { grants, ...options } = {}) =>
        sandbox.run({
          argv,
          cwd: world.control,
          env: { PATH: FIXED_PATH, KILL_CASE: token },
          timeoutMs: 20_000,
          stdout: "capture",
          clock: systemClock,
          ...options,
          policy: {
            controlDir: world.control,
            homes: [world.home],
            denyRead: [],
            readOnly: [],
            grants: { ...FLOOR, ...grants },
          },
        }),
    });
    await goneSoon(token);
  } finally {
    for (const pid of withToken(token)) kill(pid);
    removeWorld(world);
  }
}

const subprocess = { grants: { subprocess: true } };
const shell = (script: string, token: string) => ["/bin/sh", "-c", script, token];
const bash = (script: string, token: string) => ["/bin/bash", "-c", script, token];

export const KILL_CASES: readonly KillCase[] = [
  {
    name: "a timeout ends a tree that ignores every signal",
    async run({ start, token }) {
      const script =
        `trap "" TERM HUP INT; (trap "" TERM HUP INT; while :; do sleep 1; done) & while :; do sleep 1; done`;
      const run = await start(shell(script, token), { ...subprocess, timeoutMs: 400 });
      assert.equal(run.outcome, "timeout");
      assert.ok(run.durationMs < 4000, `${run.durationMs} ms`);
    },
  },
  {
    name: "a timeout ends a loop at the floor",
    async run({ start, token }) {
      const run = await start(shell(`trap "" TERM; while :; do :; done`, token), { timeoutMs: 300 });
      assert.equal(run.outcome, "timeout");
    },
  },
  {
    name: "a child that holds stdout does not keep the run",
    async run({ start, token }) {
      const run = await start(shell(`sleep 300 & echo '{"a":1}'`, token), subprocess);
      assert.equal(run.outcome, "ok");
      assert.equal(run.stdoutText, '{"a":1}\n');
      assert.ok(run.durationMs < 4000, `${run.durationMs} ms`);
      assert.ok(run.leftKilled >= 1);
    },
  },
  {
    name: "daemons that left session and parent are gone",
    async run({ start, token, world }) {
      const run = await start([world.attacker, "daemons", "12", token], subprocess);
      assert.equal(run.outcome, "ok");
    },
  },
  {
    name: "setsid, nohup and disown leave nothing",
    async run({ start, token }) {
      const script = `setsid sleep 300 & nohup sleep 300 >/dev/null 2>&1 & sleep 300 & disown -a; exit 4`;
      const run = await start(bash(script, token), subprocess);
      assert.equal(run.returncode, 4);
    },
  },
  {
    name: "a storm of processes stays within its budget and ends",
    async run({ start, token, world }) {
      let most = 0;
      const timer = setInterval(() => most = Math.max(most, withToken(token).length), 25);
      const run = await start([world.attacker, "fork_storm", "60000", token], {
        ...subprocess,
        timeoutMs: 1000,
        limits: { processes: 40 },
      }).finally(() => clearInterval(timer));
      assert.ok(most <= 41, `${most} processes with the helper`);
      assert.equal(run.outcome, "timeout");
      assert.ok((run.denied?.forkBudget ?? 0) > 0, "the budget was never reached");
    },
  },
  {
    name: "a stopped program ends at its timeout",
    async run({ start, token, world }) {
      const run = await start([world.attacker, "stop_self", token], { timeoutMs: 400 });
      assert.equal(run.outcome, "timeout");
    },
  },
  {
    name: "an endless writer is ended over the limit when captured",
    async run({ start }) {
      const run = await start(["/usr/bin/yes"]);
      assert.equal(run.outcome, "output_limit");
      assert.equal(run.stdout.length, 1024 * 1024);
      assert.match(run.reason ?? "", /1048576 bytes/);
    },
  },
  {
    name: "an endless writer runs on when its output is ignored, in bounded memory",
    async run({ start }) {
      const before = process.memoryUsage().rss;
      const run = await start(["/usr/bin/yes"], { stdout: "ignore", timeoutMs: 1000 });
      assert.equal(run.outcome, "timeout");
      assert.equal(run.stdout.length, 0);
      const grown = process.memoryUsage().rss - before;
      assert.ok(grown < 300 * 1024 * 1024, `grew by ${grown}`);
    },
  },
  {
    name: "a program that never reads 5 MB of input ends well",
    async run({ start }) {
      const run = await start(["/bin/true"], { stdin: "x".repeat(5_000_000) });
      assert.equal(run.outcome, "ok");
    },
  },
  {
    name: "1 MiB of input arrives whole",
    async run({ start }) {
      const stdin = "0123456789abcdef".repeat(65_536) + "\n";
      const run = await start(["/usr/bin/sha256sum"], { stdin });
      assert.equal(run.stdoutText.slice(0, 64), createHash("sha256").update(stdin).digest("hex"));
    },
  },
  {
    name: "fifty at once all end",
    async run({ start, token }) {
      const runs = await Promise.all(
        Array.from(
          { length: 50 },
          (_, i) => start(shell(`read -r x; echo "$x"`, token), { stdin: `${i}\n` }),
        ),
      );
      assert.deepEqual(runs.map((run) => run.stdoutText), runs.map((_, i) => `${i}\n`));
    },
  },
  {
    name: "an abort ends the tree",
    async run({ start, token }) {
      const controller = new AbortController();
      setTimeout(() => controller.abort(), 200);
      const run = await start(shell("sleep 300 & sleep 300", token), {
        ...subprocess,
        signal: controller.signal,
      });
      assert.equal(run.outcome, "signal");
      assert.match(run.reason ?? "", /ended by reyn/);
    },
  },
  {
    name: "a killed supervisor takes the program with it",
    async run({ start, token }) {
      const running = start(shell("while :; do :; done", token));
      const supervisor = await supervisorOf(token);
      await new Promise((resolve) => setTimeout(resolve, 200));
      kill(supervisor);
      const run = await running;
      assert.equal(run.outcome, "signal");
      assert.match(run.reason ?? "", /helper was killed/);
    },
  },
  {
    name: "a killed supervisor with children: what is in the session goes, too",
    async run({ start, token }) {
      const running = start(shell("sleep 300 & sleep 300 & wait", token), subprocess);
      const supervisor = await supervisorOf(token, 1);
      await new Promise((resolve) => setTimeout(resolve, 200));
      kill(supervisor);
      assert.equal((await running).outcome, "signal");
    },
  },
  {
    name: "what outlives a killed supervisor cannot make processes",
    async run({ start, token, world }) {
      // It leaves the session first, so that nobody but the kernel holds it.
      const script =
        `setsid sh -c 'sleep 1; x=$(/bin/echo made) && echo made > ${world.out}/made' ${token} & wait`;
      const running = start(shell(script, token), { grants: { subprocess: true, writePaths: ["out"] } });
      const supervisor = await supervisorOf(token, 2);
      await new Promise((resolve) => setTimeout(resolve, 200));
      kill(supervisor);
      await running;
      await new Promise((resolve) => setTimeout(resolve, 1200));
      assert.ok(!readdirSync(world.out).includes("made"), "it made a process");
    },
  },
  {
    name: "a killed runtime takes everything with it",
    async run({ token, world, helperFolder }) {
      const runtime = startRuntime(world, token, helperFolder);
      await supervisorOf(token, 3);
      kill(runtime.pid ?? 0);
      await goneSoon(token);
    },
  },
];

/** Another runtime that runs a tree and waits for it. */
function startRuntime(world: World, token: string, helperFolder: string): ChildProcess {
  const script = fileURLToPath(new URL("./killed_runtime.ts", import.meta.url));
  const flags = "deno" in process.versions ? ["run", "--allow-all", "--no-check"] : [];
  return spawn(process.execPath, [...flags, script, world.control, world.home, helperFolder, token], {
    stdio: "ignore",
    env: { ...process.env, NO_COLOR: "1" },
  });
}

/** Waits until so many processes besides the supervisor have the token; gives the supervisor. */
async function supervisorOf(token: string, programs = 1): Promise<number> {
  for (let i = 0; i < 1000; i++) {
    const found = withToken(token);
    // The program still has the helper's command line until it has executed.
    const isHelper = (pid: number) => commandLine(pid).includes("--report-fd");
    const supervisor = found.find(isHelper);
    const others = found.filter((pid) => !isHelper(pid) && !commandLine(pid).includes("killed_runtime"));
    if (supervisor !== undefined && others.length >= programs) return supervisor;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("the program did not start");
}

async function goneSoon(token: string): Promise<void> {
  let left = withToken(token);
  for (let i = 0; left.length > 0 && i < 200; i++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    left = withToken(token);
  }
  assert.deepEqual(left.map(commandLine), [], "processes are left");
}

function withToken(token: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) =>
      pid !== process.pid && readOf(pid, "environ").split("\0").includes(`KILL_CASE=${token}`)
    );
}

function commandLine(pid: number): string {
  return readOf(pid, "cmdline");
}

/** Empty for the dead and the gone. */
function readOf(pid: number, file: "environ" | "cmdline"): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}

function kill(pid: number): void {
  if (pid <= 1) return;
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has gone by itself.
  }
}
