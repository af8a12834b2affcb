import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import process from "node:process";
import { PassThrough } from "node:stream";
import { describe, it } from "node:test";
import { setImmediate } from "node:timers";
import { fileURLToPath } from "node:url";
import { systemClock } from "../../../src/clock/clock.ts";
import { encodeFrame, frameReader, GREETING, KIND, PROTOCOL } from "../../../src/sandbox/wasm/frames.ts";
import { type ChildResult, talkTo } from "../../../src/sandbox/wasm/plugin_child.ts";
import { made, openTestHost, pluginProcesses, processesOf, type TestHost } from "./host_helpers.ts";

const HELLO = encodeFrame(KIND.hello, { greeting: GREETING, protocol: PROTOCOL, pid: 1 });
const numbers = (outcome: number) => Uint8Array.from([outcome, ...new Uint8Array(12)]);
const RESULT = encodeFrame(KIND.result, undefined, numbers(0));
const ASK = encodeFrame(KIND.ask, { ask: "var_get", name: "a" });
const HOST_CALLS = 50;
const NO_BYTES = new Uint8Array();

/** A call to a process that says these bytes, none for the end of its output, each at a turn of its own: when it is started, when it is called, when it is answered. */
async function callWhere(says: readonly Uint8Array[]): Promise<ChildResult & { killed: boolean }> {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  let killed = false;
  const { promise: ended, resolve: end } = Promise.withResolvers<string>();
  const left = [...says];
  const unframe = frameReader(100_000);
  stdin.on("data", (chunk: Uint8Array) => {
    const heard = unframe(chunk);
    for (const { kind } of heard.ok ? heard.frames : []) {
      if (kind === KIND.module) continue;
      const next = left.length > 1 ? left.shift() : left[0];
      if (next) setImmediate(() => next.length > 0 ? stdout.write(next) : stdout.end());
    }
  });
  const child = talkTo({
    stdin,
    stdout,
    ended,
    kill() {
      killed = true;
      end("it was killed");
    },
    unref() {},
    ref() {},
  }, { files: false, clock: systemClock });
  await child.ready;
  const result = await child.call({
    head: {
      hash: "h",
      export: "run",
      instance: "",
      memoryBytes: 1,
      outputBytes: 1000,
      logLines: 1,
      logBytes: 1,
      hostCalls: HOST_CALLS,
      config: {},
      env: {},
      args: [],
      folders: [],
      now: 0,
    },
    module: { hash: "h", bytes: NO_BYTES },
    input: NO_BYTES,
    answer: () => ({ head: { ok: true } }),
  });
  child.kill();
  return { ...result, killed };
}

const words = { reason: null, error: null, log: "", denied: [], deniedMore: 0 };
const deep = JSON.parse("[".repeat(5000) + "]".repeat(5000)) as unknown;

describe("a process that runs plugins and was taken over is ended, and so is its call, when it", () => {
  const rows: [string, RegExp, ...Uint8Array[]][] = [
    ["does not greet as reyn does", /does not speak/, encodeFrame(KIND.hello, { greeting: "hi", pid: 1 })],
    ["greets twice", /out of turn/, Buffer.concat([HELLO, HELLO])],
    ["answers before it is called", /out of turn/, Buffer.concat([HELLO, RESULT])],
    ["says what is no frame", /no frame/, HELLO, Buffer.alloc(1000, 0xff)],
    ["begins a frame of 2 GiB", /no frame/, HELLO, Uint8Array.from([255, 255, 255, 127, KIND.result])],
    [
      "has a head longer than its frame",
      /no frame/,
      HELLO,
      Uint8Array.from([9, 0, 0, 0, KIND.result, 255, 255, 255, 127, 0, 0, 0, 0]),
    ],
    ["ends in no known way", /no result/, HELLO, encodeFrame(KIND.result, undefined, numbers(200))],
    ["leaves numbers out", /no result/, HELLO, encodeFrame(KIND.result, undefined, new Uint8Array(5))],
    [
      "talks too much",
      /no result/,
      HELLO,
      encodeFrame(KIND.result, { ...words, reason: "x".repeat(100_000) }, numbers(1)),
    ],
    ["says more than there is", /no result/, HELLO, encodeFrame(KIND.result, { ...words, x: 1 }, numbers(1))],
    [
      "puts out too much",
      /no result/,
      HELLO,
      encodeFrame(KIND.result, undefined, numbers(0), new Uint8Array(1001)),
    ],
    ["asks twice at once", /out of turn/, HELLO, Buffer.concat([ASK, ASK])],
    ["answers while it asks", /out of turn/, HELLO, Buffer.concat([ASK, RESULT])],
    [
      "asks for what there is not",
      /cannot be asked/,
      HELLO,
      encodeFrame(KIND.ask, { ask: "read", path: "/" }),
    ],
    [
      "asks with what is nested deeply",
      /cannot be asked/,
      HELLO,
      encodeFrame(KIND.ask, { ask: "emit", name: "a", values: deep }),
    ],
    [
      "emits text",
      /cannot be asked/,
      HELLO,
      encodeFrame(KIND.ask, { ask: "emit", name: "the user said", values: {} }),
    ],
    [
      "emits text as a key",
      /cannot be asked/,
      HELLO,
      encodeFrame(KIND.ask, { ask: "emit", name: "a", values: { "the user said": 1 } }),
    ],
    [
      "emits any number of values",
      /cannot be asked/,
      HELLO,
      encodeFrame(KIND.ask, {
        ask: "emit",
        name: "a",
        values: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`a${i}`, i])),
      }),
    ],
    ["asks without end", /asked too often/, HELLO, ASK],
    ["closes its output", /was killed/, HELLO, NO_BYTES],
    ["gives a call to reyn", /out of turn/, HELLO, encodeFrame(KIND.call, {})],
  ];
  for (const [name, reason, ...says] of rows) {
    it(name, async () => {
      const result = await callWhere(says);
      assert.equal(result.status, "gone");
      assert.match(result.status === "gone" ? result.reason : "", reason);
      assert.ok(result.killed);
    });
  }
});

describe("a process of a plugin", () => {
  const script = fileURLToPath(new URL("./forging_child.ts", import.meta.url));
  const runtime = process.versions.bun === undefined
    ? [process.execPath, "run", "--quiet", "-A", "--no-check", "--cached-only", script]
    : [process.execPath, script];
  const withForger = async (mode: string, use: (test: TestHost) => Promise<void>) => {
    const test = await openTestHost({ command: [...runtime, mode] }, { isReady: false });
    try {
      await use(test);
    } finally {
      await test.close();
    }
    assert.deepEqual(pluginProcesses(), []);
  };

  for (const mode of ["noise", "dies_in_a_frame"]) {
    it(`that was taken over leaves nothing: ${mode}`, () =>
      withForger(mode, async (test) => {
        assert.equal((await test.call(await made({ run: "(i32.const 0)" }))).outcome, "signal");
      }));
  }

  it("that answers twice is replaced", () =>
    withForger("two_results", async (test) => {
      const module = await made({ run: "(i32.const 0)" });
      const asked = test.call(module);
      while (pluginProcesses().length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
      const first = pluginProcesses();
      assert.equal((await asked).outcome, "ok");
      assert.equal((await test.call(module)).outcome, "ok");
      assert.deepEqual(pluginProcesses().filter((pid) => first.includes(pid)), []);
    }));

  it("that is stopped is killed at the deadline of the call, and the next call gets another", async () => {
    // Without a spare, which would be stopped too, and then serve the next call.
    const test = await openTestHost({ mostChildren: 1 });
    try {
      const module = await made({ run: "(i32.const 0)" });
      const pids = pluginProcesses().flatMap(processesOf);
      assert.ok(pids.length > 0);
      for (const pid of pids) process.kill(pid, "SIGSTOP");
      const stopped = await test.call(module, { limits: { timeoutMs: 300 } });
      assert.equal(stopped.outcome, "timeout");
      assert.ok(stopped.durationMs < 550, `${stopped.durationMs} ms`);
      assert.equal((await test.call(module)).outcome, "ok");
    } finally {
      await test.close();
    }
    assert.deepEqual(pluginProcesses(), []);
  });
});
