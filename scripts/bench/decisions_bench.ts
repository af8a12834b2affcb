import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { systemClock } from "../../src/clock/clock.ts";
import { sequentialIds } from "../../src/clock/ids.ts";
import { type DecisionHooks, decisionHooks } from "../../src/decisions/decision_hooks.ts";
import { findConfig } from "../../src/decisions/find_config.ts";
import { loadDecisions } from "../../src/decisions/load_decisions.ts";
import { makeContext } from "../../src/points/contexts.ts";
import type { DecisionContext } from "../../src/points/decision_shapes.ts";
import { decisionPlugins } from "../../src/runtime/decision_plugins.ts";
import { openSandbox } from "../../src/sandbox/sandbox.ts";
import { loadModule } from "../../src/sandbox/wasm/load_module.ts";
import { createPluginHost } from "../../src/sandbox/wasm/plugin_host.ts";
import type { BenchRow } from "../lib/bench_table.ts";
import { REPO } from "../lib/repo.ts";

const BATCHES = 15;
const GATE = join(REPO, "plugins", "spawn_gate", "spawn_gate.wasm");

/** Microseconds of one awaited call: the median over batches, after a warm-up. */
async function medianAwaited(run: () => Promise<unknown>, calls: number): Promise<number> {
  const times: number[] = [];
  for (let batch = 0; batch < BATCHES + 5; batch++) {
    const start = performance.now();
    for (let call = 0; call < calls; call++) await run();
    if (batch >= 5) times.push(((performance.now() - start) * 1000) / calls);
  }
  return median(times);
}

const HOOK = `export default ({ LifecycleHooks }) => class extends LifecycleHooks {
  session_spawn(ctx) { return { prompt: ctx.prompt + "." }; }
};`;

const ECHO = "process.stdin.on('data', (c) => process.stdout.write(c))";

/** Microseconds of a line's way to a child process and back. */
async function pipeRoundTrip(line: string): Promise<number> {
  const child = spawn(process.execPath, ["-e", ECHO], { stdio: ["pipe", "pipe", "inherit"] });
  let arrived: () => void = () => {};
  child.stdout.on("data", () => arrived());
  try {
    return await medianAwaited(() =>
      new Promise<void>((resolve) => {
        arrived = resolve;
        child.stdin.write(line);
      }), 300);
  } finally {
    child.kill();
  }
}

/** Microseconds of a decision by a plugin, and of the call of it alone, taken in turns. */
async function pluginCalls(
  dir: string,
  context: DecisionContext<"session_spawn">,
  hooksOf: (yaml: string) => Promise<DecisionHooks>,
): Promise<[number, number]> {
  const sandbox = openSandbox();
  const host = createPluginHost({ sandbox, clock: systemClock, controlDir: dir, homes: [dir], denyRead: [] });
  const hooks = await hooksOf(`hooks: [{ name: gate, wasm: "${GATE}", with: { root: / } }]\n`);
  try {
    const loaded = loadModule(GATE, { controlDir: dir, exportName: "run", memoryBytes: 64 * 1024 * 1024 });
    if (!loaded.ok) throw new Error(loaded.reason);
    const { module } = loaded;
    const input = new TextEncoder().encode(JSON.stringify({ method: "session_spawn", params: context }));
    const called = async () => {
      const done = await host.call({ owner: "bench", module, export: "run", input, config: { root: "/" } });
      if (done.outcome !== "ok") throw new Error(`${done.outcome}: ${done.reason}`);
    };
    const decided = async () => {
      const { asked: [gate] } = await hooks.decide("session_spawn", context);
      if (gate?.error !== undefined) throw new Error(gate.error);
    };
    const pairs: [number, number][] = [];
    for (let turn = 0; turn < 5; turn++) {
      pairs.push([await medianAwaited(decided, 60), await medianAwaited(called, 60)]);
    }
    return [median(pairs.map(([value]) => value)), median(pairs.map(([, value]) => value))];
  } finally {
    await hooks.close();
    await host.close();
    sandbox.close();
  }
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}

/** What a decision costs: without hooks, with three in this process or in children of it, and with a service. */
export async function rows(): Promise<BenchRow[]> {
  const dir = await mkdtemp(join(tmpdir(), "reyn-bench-"));
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Uint8Array) => (body += new TextDecoder().decode(chunk)));
    request.on("end", () => {
      const { id } = JSON.parse(body) as { id: number };
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result: { prompt: "remote" } }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  await writeFile(join(dir, "hook.mjs"), HOOK);
  const context = makeContext("session_spawn", { work_item: "github:o/r#3", prompt: "p" });

  const hooksOf = async (yaml: string) => {
    const configFile = join(dir, "c.yaml");
    await writeFile(configFile, yaml);
    const place = findConfig({ controlDir: dir, home: dir, configFile });
    if (!place) throw new Error("no declaration");
    const plugins = decisionPlugins(dir, systemClock);
    const loaded = await loadDecisions(place, {
      clock: systemClock,
      home: dir,
      env: () => undefined,
      plugins,
    });
    // What the log costs is measured in audit_bench; here it only has to take the event.
    const audit = { emit: () => {}, flush: () => Promise.resolve(), close: () => Promise.resolve() };
    return decisionHooks(loaded, { audit, clock: systemClock, ids: sequentialIds("d") });
  };
  const measured = async (yaml: string, calls: number) => {
    const hooks = await hooksOf(yaml);
    const { asked } = await hooks.decide("session_spawn", context);
    if (asked.some(({ error }) => error !== undefined)) {
      throw new Error(`a hook failed: ${JSON.stringify(asked)}`);
    }
    const micros = await medianAwaited(() => hooks.decide("session_spawn", context), calls);
    await hooks.close();
    return micros;
  };
  const three = (rest: string) =>
    `hooks:\n${["a", "b", "c"].map((name) => `  - { name: ${name}, path: hook.mjs${rest} }\n`).join("")}`;

  try {
    const empty = await medianAwaited(async () => {}, 20_000);
    const none = await measured("hooks: []\n", 20_000);
    const local = await measured(three(""), 3000);
    const isolated = await measured(three(", isolate: true"), 300);
    const bare = await medianAwaited(async () => {
      const init = { method: "POST", body: JSON.stringify({ id: 1, params: context }) };
      await (await fetch(url, init)).json();
    }, 60);
    const remote = await measured(`hooks: [{ name: far, url: "${url}" }]\n`, 60);
    const pipes = 3 * await pipeRoundTrip(JSON.stringify(context));
    const [plugin, call] = await pluginCalls(dir, context, hooksOf);
    const floorName = "empty async call";
    return [
      {
        name: "decision: no hooks",
        unit: "us",
        value: none,
        floor: empty,
        floorName,
        goal: { timesFloor: 2 },
      },
      {
        name: "decision: three local hooks",
        unit: "us",
        value: local,
        floor: empty,
        floorName,
        goal: { atMost: 10 },
      },
      {
        name: "decision: three isolated hooks",
        unit: "us",
        value: isolated,
        floor: pipes,
        floorName: "three trips through pipes",
        goal: { atMost: 300 },
      },
      {
        name: "decision: one service",
        unit: "us",
        value: remote,
        floor: bare,
        floorName: "bare fetch",
        goal: { atMost: bare + 300 },
      },
      {
        name: "decision: one plugin",
        unit: "us",
        value: plugin,
        floor: call,
        floorName: "call of the plugin",
        goal: { atMost: call + 50 },
      },
    ];
  } finally {
    server.close();
    server.closeAllConnections();
    await rm(dir, { recursive: true, force: true });
  }
}
