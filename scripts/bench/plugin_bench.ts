import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import wabt from "wabt";
import { systemClock } from "../../src/clock/clock.ts";
import { FIXED_PATH } from "../../src/sandbox/environment.ts";
import { FLOOR } from "../../src/sandbox/policy.ts";
import { openSandbox } from "../../src/sandbox/sandbox.ts";
import type { Module } from "../../src/sandbox/wasm/plugin_child.ts";
import { createPluginHost, type PluginHost } from "../../src/sandbox/wasm/plugin_host.ts";
import type { BenchRow } from "../lib/bench_table.ts";
import { exists, REPO } from "../lib/repo.ts";

const WARM_CALLS = 3000;
const RUNS = 40;
const FIRST_CALLS = 10;
const KILLS = 8;
const KILL_AFTER_MS = 100;
const INPUT = new TextEncoder().encode(`{"point":"turn_end","user_text":"hello"}`);

/** What a plugin costs: a call, the first call, the end of one that hangs; beside an export alone, a program and a confined program. */
export async function rows(): Promise<BenchRow[]> {
  const root = mkdtempSync(join(realpathSync(tmpdir()), "reyn-plugin-bench-"));
  const controlDir = join(root, "app");
  mkdirSync(controlDir);
  const sandbox = openSandbox({ helperFolders: [join(root, "helper")] });
  const binary = join(REPO, "dist", "reyn");
  const isBuilt = await exists(binary);
  const where = isBuilt ? "built binary" : "source";
  const open = () =>
    createPluginHost({
      sandbox,
      clock: systemClock,
      controlDir,
      homes: [root],
      denyRead: [],
      ...(isBuilt ? { command: [binary] } : {}),
    });
  const hosts: PluginHost[] = [];
  try {
    const probe = await sandbox.probe();
    if (!probe.confirmed) throw new Error(`the sandbox is not confirmed: ${probe.reason}`);
    const nop = await assemble(`(module (func (export "run") (result i32) (i32.const 0)))`);
    const loop = await assemble(
      `(module (func (export "run") (result i32) (loop $l (br $l)) (i32.const 0)))`,
    );

    const first: number[] = [];
    for (let i = 0; i < FIRST_CALLS; i += 1) {
      const host = open();
      hosts.push(host);
      const began = performance.now();
      await good(host, nop);
      first.push(performance.now() - began);
      if (i < FIRST_CALLS - 1) await host.close();
    }
    const host = hosts.at(-1) ?? open();
    const warm = await times(WARM_CALLS, () => good(host, nop));
    const pipe = await pipeRoundTrip();
    const run = await rawExport(nop);
    const raw = rawCall(run);
    const [program, confined] = await interleaved([
      () => bareRun(),
      async () => {
        const done = await sandbox.run({
          argv: ["/bin/true"],
          cwd: controlDir,
          env: { PATH: FIXED_PATH },
          stdin: INPUT,
          policy: { controlDir, homes: [root], grants: FLOOR, denyRead: [], readOnly: [] },
          timeoutMs: 10_000,
          stdout: "ignore",
          clock: systemClock,
        });
        if (done.outcome !== "ok") throw new Error(`${done.outcome}: ${done.reason}`);
      },
    ]);
    const late: number[] = [];
    for (let i = 0; i < KILLS; i += 1) {
      await good(host, nop);
      const present = processes();
      const began = performance.now();
      const result = await host.call({
        owner: `loop ${i}`,
        module: loop,
        export: "run",
        input: INPUT,
        limits: { timeoutMs: KILL_AFTER_MS },
      });
      if (result.outcome !== "timeout") throw new Error(`${result.outcome}: ${result.reason}`);
      while (present.every(runs)) await new Promise((resolve) => setTimeout(resolve, 1));
      late.push(performance.now() - began - KILL_AFTER_MS);
    }
    await good(host, nop);
    const resident = residentOf(processes());
    const call = median(warm) * 1000;
    const native = (confined ?? 0) * 1000;
    return [
      { name: `plugin: warm call, ${where}`, unit: "µs", value: call, goal: { atMost: 100 } },
      {
        name: "plugin: warm call beside a confined program",
        unit: "µs",
        value: call,
        floor: native,
        floorName: "confined program",
        goal: { timesFloor: 0.1 },
      },
      {
        name: "plugin: warm call beside a program",
        unit: "µs",
        value: call,
        floor: (program ?? 0) * 1000,
        floorName: "raw spawn",
      },
      {
        name: "plugin: warm call beside a pipe there and back",
        unit: "µs",
        value: call,
        floor: pipe * 1000,
        floorName: "cat",
      },
      {
        name: "plugin: warm call beside an export",
        unit: "µs",
        value: call,
        floor: raw,
        floorName: "raw export",
      },
      {
        name: `plugin: first call, ${where}`,
        unit: "ms",
        value: median(first),
        floor: program ?? 0,
        floorName: "raw spawn",
        goal: { atMost: 40 },
      },
      {
        name: "plugin: process of a runaway gone after its deadline",
        unit: "ms",
        value: median(late),
        goal: { atMost: 20 },
      },
      { name: "plugin: memory of a process", unit: "MiB", value: resident / 1024 ** 2 },
    ];
  } finally {
    for (const host of hosts) await host.close();
    sandbox.close();
    rmSync(root, { recursive: true, force: true });
  }
}

async function assemble(text: string): Promise<Module> {
  const tools = await wabt();
  const module = tools.parseWat("bench.wat", text);
  const bytes = Uint8Array.from(module.toBinary({}).buffer);
  module.destroy();
  return { bytes, hash: createHash("sha256").update(bytes).digest("hex") };
}

async function good(host: PluginHost, module: Module): Promise<void> {
  const result = await host.call({ owner: "bench", module, export: "run", input: INPUT });
  if (result.outcome !== "ok") throw new Error(`${result.outcome}: ${result.reason}`);
}

async function rawExport({ bytes }: Module): Promise<() => unknown> {
  const { instance } = await WebAssembly.instantiate(Uint8Array.from(bytes), {});
  const { run } = instance.exports;
  if (typeof run !== "function") throw new Error("there is no export");
  return () => Reflect.apply(run, undefined, []);
}

/** Median milliseconds of as many bytes as a call has, through a program that only gives them back. */
async function pipeRoundTrip(): Promise<number> {
  const child = spawn("/bin/cat", [], { stdio: ["pipe", "pipe", "ignore"] });
  const message = new Uint8Array(600);
  let [got, settle] = [0, () => {}];
  child.stdout.on("data", (chunk: Uint8Array) => {
    got += chunk.length;
    if (got === message.length) settle();
  });
  try {
    return median(
      await times(WARM_CALLS, () => {
        got = 0;
        return new Promise<void>((resolve) => {
          settle = resolve;
          child.stdin.write(message);
        });
      }),
    );
  } finally {
    child.kill("SIGKILL");
  }
}

/** Microseconds of one call of an export, engine to engine. */
function rawCall(run: () => unknown): number {
  const CALLS = 1_000_000;
  for (let i = 0; i < CALLS; i += 1) run();
  const began = performance.now();
  for (let i = 0; i < CALLS; i += 1) run();
  return (performance.now() - began) / CALLS * 1000;
}

function bareRun(): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn("/bin/true", [], { stdio: ["pipe", "pipe", "pipe"], env: { PATH: FIXED_PATH } });
    child.on("error", reject);
    child.stdin.on("error", () => {});
    child.stdin.end(INPUT);
    child.stdout.resume();
    child.stderr.resume();
    child.on("close", () => resolve());
  });
}

/** Processes for plugins that this one has started, by their command line. */
function processes(): number[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).flatMap((name) => {
    try {
      const words = readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0");
      const parent = /^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${name}/status`, "utf8"))?.[1] ?? "";
      const above = readFileSync(`/proc/${parent}/cmdline`, "utf8").split("\0");
      const isOurs = above[above.indexOf("--runtime-pid") + 1] === String(process.pid);
      return isOurs && words.includes("__plugin-host") ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

function runs(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

function residentOf(pids: readonly number[]): number {
  const sizes = pids.map((pid) =>
    Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0)
  );
  return Math.max(0, ...sizes) * 1024;
}

async function times(count: number, work: () => Promise<void>): Promise<number[]> {
  for (let i = 0; i < count / 3; i += 1) await work();
  const found: number[] = [];
  for (let i = 0; i < count; i += 1) {
    const began = performance.now();
    await work();
    found.push(performance.now() - began);
  }
  return found;
}

/** Median milliseconds of each, taking turns so that a busy moment hits all alike. */
async function interleaved(work: (() => Promise<void>)[]): Promise<number[]> {
  const found = work.map((): number[] => []);
  for (let round = 0; round < RUNS; round += 1) {
    for (const [i, run] of work.entries()) {
      const began = performance.now();
      await run();
      found[i]?.push(performance.now() - began);
    }
  }
  return found.map(median);
}

function median(list: readonly number[]): number {
  return [...list].sort((a, b) => a - b)[list.length >> 1] ?? 0;
}
