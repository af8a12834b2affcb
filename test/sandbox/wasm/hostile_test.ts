import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { PluginResult } from "../../../src/sandbox/wasm/result.ts";
import { made, moduleOf, openTestHost, type TestHost } from "./host_helpers.ts";
import { assemble } from "./modules.ts";

/** Time after its deadline that a call may take to come back, with room for a busy machine. */
const LATE_MS = 1000;
const SHORT = { timeoutMs: 400 };
const LONG = { timeoutMs: 20_000 };

describe("a hostile plugin", () => {
  let test: TestHost;
  before(async () => {
    test = await openTestHost();
  });
  after(async () => {
    await test.close();
  });

  const goesOn = async () => {
    const next = await test.call(await made({ run: "(i32.const 0)" }), { limits: LONG });
    assert.equal(next.outcome, "ok", next.reason ?? "");
  };
  const timesOut = async (call: Promise<PluginResult>) => {
    const result = await call;
    assert.equal(result.outcome, "timeout", result.reason ?? "");
    assert.ok(result.durationMs < SHORT.timeoutMs + LATE_MS, `${result.durationMs} ms`);
    await goesOn();
  };

  it("that loops without end is ended at its deadline", async () => {
    await timesOut(test.call(await made({ run: "(loop $l (br $l)) (i32.const 0)" }), { limits: SHORT }));
  });

  it("that loops in its start function is ended at its deadline", async () => {
    const module = await made({
      run: "(i32.const 0)",
      more: "(func $begin (loop $l (br $l))) (start $begin)",
    });
    await timesOut(test.call(module, { limits: SHORT }));
  });

  it("that calls the host without end is stopped at so many calls", async () => {
    const module = await made({
      imports: ["now"],
      run: "(loop $l (drop (call $now)) (br $l)) (i32.const 0)",
    });
    const result = await test.call(module, { limits: LONG });
    assert.equal(result.outcome, "call_limit");
    assert.match(result.reason ?? "", /more than 100000 times/);
    await goesOn();
  });

  it("that only asks for its input without end is ended at its deadline", async () => {
    const module = await made({
      imports: ["input_length"],
      run: "(loop $l (drop (call $input_length)) (br $l)) (i32.const 0)",
    });
    await timesOut(test.call(module, { limits: SHORT }));
  });

  it("whose memory is full sees its growing fail, and traps as memory_limit", async () => {
    const module = await made({
      run: "(loop $l (br_if $l (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))) (unreachable)",
    });
    const result = await test.call(module, { limits: { ...LONG, memoryBytes: 8 * 1024 * 1024 } });
    assert.equal(result.outcome, "memory_limit", result.reason ?? "");
    assert.equal(result.memoryBytes, 8 * 1024 * 1024);
    await goesOn();
  });

  it("that copes with a full memory goes on", async () => {
    const module = await made({
      run: "(loop $l (br_if $l (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))) (i32.const 7)",
    });
    const result = await test.call(module, { limits: { ...LONG, memoryBytes: 8 * 1024 * 1024 } });
    assert.deepEqual([result.outcome, result.returncode], ["exit", 7]);
    assert.ok(result.memoryBytes <= 8 * 1024 * 1024);
  });

  it("that would import its memory gets one of its own, as bounded", async () => {
    const bytes = await assemble(`(module
      (import "env" "memory" (memory 1 65536))
      (func (export "run") (result i32)
        (loop $l (br_if $l (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))) (memory.size)))`);
    const result = await test.call(moduleOf(bytes), { limits: { ...LONG, memoryBytes: 1024 * 1024 } });
    assert.deepEqual([result.outcome, result.returncode], ["exit", 16], result.reason ?? "");
  });

  it("that has the host hold too much is stopped as memory_limit", async () => {
    const module = await made({
      imports: ["alloc"],
      run: "(loop $l (drop (call $alloc (i64.const 1048576))) (br $l)) (i32.const 0)",
    });
    const result = await test.call(module, { limits: { ...LONG, memoryBytes: 8 * 1024 * 1024 } });
    assert.equal(result.outcome, "memory_limit", result.reason ?? "");
  });

  it("that has the host hold any number of empty blocks is stopped as memory_limit", async () => {
    const module = await made({
      imports: ["alloc"],
      run: "(loop $l (drop (call $alloc (i64.const 0))) (br $l)) (i32.const 0)",
    });
    const result = await test.call(module, { limits: LONG });
    assert.equal(result.outcome, "memory_limit", result.reason ?? "");
    assert.match(result.reason ?? "", /the host was to hold more than/);
  });

  it("that hands over more than reyn takes is told so, and keeps its process", async () => {
    const variable = await made({
      imports: ["alloc", "var_set"],
      run: "(call $var_set (call $alloc (i64.const 1)) (call $alloc (i64.const 40000000))) (i32.const 0)",
    });
    const result = await test.call(variable, { limits: LONG });
    assert.deepEqual([result.outcome, result.error], [
      "exit",
      "its variables would hold more than 1048576 bytes",
    ]);
    const request = await made({
      imports: ["alloc", "http_request"],
      texts: { request: `{"url":"http://example.com/"}` },
      run: "(drop (call $http_request (TEXT request) (call $alloc (i64.const 40000000)))) (i32.const 0)",
    });
    const sent = await test.call(request, { limits: LONG });
    assert.deepEqual([sent.outcome, sent.log], ["ok", "http_request: its body is over 16777216 bytes\n"]);
  });

  it("that hands host functions places where nothing is gets nothing, and traps or goes on", async () => {
    const bodies = [
      "(drop (call $alloc (i64.const -1)))",
      "(drop (call $length (i64.const -1)))",
      "(drop (call $load_u8 (i64.const 0x7fffffffffffffff)))",
      "(call $store_u8 (i64.const -8) (i32.const 1))",
      "(call $output_set (call $alloc (i64.const 8)) (i64.const -1))",
      "(call $output_set (call $alloc (i64.const 8)) (i64.const 9))",
      "(call $output_set (i64.const -1) (i64.const 0))",
      "(call $error_set (i64.const -5))",
      "(call $log (i64.const -1)) (call $log (i64.const 0x7fffffffffffffff))",
      "(drop (call $config_get (i64.const -1)))",
      "(drop (call $var_get (i64.const -1))) (call $var_set (i64.const -1) (i64.const -1))",
      "(drop (call $http_request (i64.const -1) (i64.const -1)))",
      "(call $emit (i64.const -1))",
      "(drop (call $random (i64.const -1)))",
    ];
    for (const body of bodies) {
      const names = [...body.matchAll(/\$(\w+)/g)].flatMap(([, name]) => name ?? []);
      const result = await test.call(await made({ imports: names, run: `${body} (i32.const 0)` }), {
        limits: LONG,
      });
      assert.ok(
        ["ok", "exit", "trap", "memory_limit"].includes(result.outcome),
        `${body}: ${result.outcome}`,
      );
      assert.equal(result.output.length, 0);
    }
    await goesOn();
  });

  it("that throws an exception of its own traps, and reyn says so", async () => {
    const bytes = await assemble(
      `(module (tag $t (param i32)) (func (export "run") (throw $t (i32.const 1))))`,
    );
    const result = await test.call(moduleOf(bytes), { limits: LONG });
    assert.deepEqual([result.outcome, result.reason], [
      "trap",
      "an exception of its own that nothing in it caught",
    ]);
  });

  it("whose memory, tables or data do not fit as it begins traps before it runs", async () => {
    for (
      const [text, outcome] of [
        [`(memory 1) (data (i32.const 65530) "0123456789")`, "trap"],
        [`(table 1 funcref) (elem (i32.const 5) $f)`, "trap"],
        [`(start $f)`, "trap"],
      ] as const
    ) {
      const bytes = await assemble(`(module (func $f unreachable) ${text} (func (export "run")))`);
      assert.equal((await test.call(moduleOf(bytes), { limits: LONG })).outcome, outcome, text);
    }
    await goesOn();
  });

  it("that overflows its stack traps", async () => {
    const module = await made({
      run: "(call $deep)",
      more: "(func $deep (result i32) (i32.add (call $deep) (i32.const 1)))",
    });
    const result = await test.call(module, { limits: LONG });
    assert.equal(result.outcome, "trap", result.reason ?? "");
    await goesOn();
  });

  it("that writes a log without end is stopped as log_limit", async () => {
    const module = await made({
      imports: ["log"],
      texts: { line: "a line" },
      run:
        "(local $b i64) (local.set $b (TEXT line)) (loop $l (call $log (local.get $b)) (br $l)) (i32.const 0)",
    });
    const result = await test.call(module, { limits: LONG });
    assert.equal(result.outcome, "log_limit", result.reason ?? "");
    assert.ok(result.log.length <= 8 * 1024);
  });

  it("whose output is too large is stopped as output_limit, and not where nobody reads it", async () => {
    const module = await made({
      imports: ["alloc", "output_set"],
      run: "(local $b i64) (local.set $b (call $alloc (i64.const 33554432))) " +
        "(call $output_set (local.get $b) (i64.const 33554432)) (i32.const 0)",
    });
    const limited = await test.call(module, { limits: LONG });
    assert.equal(limited.outcome, "output_limit", limited.reason ?? "");
    const ignored = await test.call(module, { limits: { ...LONG, outputBytes: 0 } });
    assert.deepEqual([ignored.outcome, ignored.output.length], ["ok", 0]);
  });

  it("that catches what ends its call is ended all the same", async () => {
    const bytes = await assemble(`(module
      (import "extism:host/user" "now" (func $now (result i64)))
      (func (export "run") (result i32)
        (loop $l (try (do (drop (call $now))) (catch_all)) (br $l)) (i32.const 0)))`);
    const result = await test.call(moduleOf(bytes), { limits: SHORT });
    assert.ok(["timeout", "launch_failed"].includes(result.outcome), `${result.outcome} ${result.reason}`);
    await goesOn();
  });

  it("that traps on every call is thrown away each time, then not called any more", async () => {
    const module = await made({ run: "(unreachable)" });
    const outcomes: string[] = [];
    for (let i = 0; i < 7; i++) {
      const result = await test.call(module, { owner: "always traps", limits: LONG });
      outcomes.push(result.disables ? `${result.outcome}!` : result.outcome);
    }
    assert.deepEqual(outcomes, ["trap", "trap", "trap", "trap", "trap!", "disabled", "disabled"]);
    await goesOn();
  });

  it("that trapped once is called again with a fresh memory", async () => {
    const module = await made({
      run:
        "(if (i32.eqz (i32.load (i32.const 0))) (then (i32.store (i32.const 0) (i32.const 1)) (unreachable))) (i32.const 0)",
    });
    const owner = "traps when fresh";
    assert.equal((await test.call(module, { owner, limits: LONG })).outcome, "trap");
    assert.equal((await test.call(module, { owner, limits: LONG })).outcome, "trap");
  });

  it("that is called a hundred times at once is called a hundred times", async () => {
    const module = await made({
      imports: ["input_offset", "input_length", "output_set"],
      run: "(call $output_set (call $input_offset) (call $input_length)) (i32.const 0)",
    });
    const calls = Array.from(
      { length: 100 },
      (_, i) =>
        test.call(module, { owner: "crowd", input: new TextEncoder().encode(`call ${i}`), limits: LONG }),
    );
    const results = await Promise.all(calls);
    assert.deepEqual(
      results.map(({ output }) => new TextDecoder().decode(output)),
      Array.from({ length: 100 }, (_, i) => `call ${i}`),
    );
    assert.ok(test.host.size() <= 4);
  });
});
