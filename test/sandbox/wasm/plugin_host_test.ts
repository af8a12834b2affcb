import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import type { PluginRequest } from "../../../src/sandbox/wasm/answer_call.ts";
import { NO_GRANTS } from "../../../src/sandbox/wasm/plugin_host.ts";
import { made, moduleOf, openTestHost, pluginProcesses, type TestHost, textOf } from "./host_helpers.ts";
import { assemble } from "./modules.ts";

const LIMITS = { timeoutMs: 20_000 };

/** Sets what a call of the host gives as output. */
const OUTPUT = "(call $output_set (local.get $b) (call $length (local.get $b)))";

describe("a plugin", () => {
  let test: TestHost;
  const requests: PluginRequest[] = [];
  before(async () => {
    test = await openTestHost({
      send: (request) => {
        requests.push(request);
        return Promise.resolve(
          request.url.includes("forbidden")
            ? { outcome: "refused" as const, host: "forbidden.example", reason: "host_not_listed" }
            : {
              outcome: "ok" as const,
              status: 201,
              headers: [["x-a", "1"]] as const,
              body: request.body ?? new Uint8Array(),
            },
        );
      },
    });
  });
  after(async () => {
    await test.close();
  });

  it("gets its input and gives its output", async () => {
    const module = await made({
      imports: ["input_offset", "input_length", "output_set"],
      run: "(call $output_set (call $input_offset) (call $input_length)) (i32.const 0)",
    });
    const input = new TextEncoder().encode(`{"text":"${"é".repeat(100_000)}"}`);
    const result = await test.call(module, { input, limits: LIMITS });
    assert.equal(result.outcome, "ok", result.reason ?? "");
    assert.deepEqual(result.output, input);
  });

  it("fails with the number that it returns, and its own error text", async () => {
    const module = await made({
      imports: ["error_set"],
      texts: { why: "no such customer" },
      run: "(call $error_set (TEXT why)) (i32.const 3)",
    });
    const result = await test.call(module, { limits: LIMITS });
    assert.deepEqual([result.outcome, result.returncode, result.error], ["exit", 3, "no such customer"]);
  });

  it("reads its config, and nothing that every object has", async () => {
    const reads = (key: string) =>
      made({
        imports: ["config_get", "length", "output_set"],
        texts: { key },
        run: `(local $b i64) (local.set $b (call $config_get (TEXT key)))
          (if (i64.eqz (local.get $b)) (then (return (i32.const 9)))) ${OUTPUT} (i32.const 0)`,
      });
    const config = { greeting: "hello" };
    assert.equal(
      textOf((await test.call(await reads("greeting"), { config, limits: LIMITS })).output),
      "hello",
    );
    for (const key of ["constructor", "__proto__", "toString", "other"]) {
      assert.equal((await test.call(await reads(key), { config, limits: LIMITS })).returncode, 9);
    }
  });

  it("keeps variables for its owner alone, and those of a failed call not at all", async () => {
    const counts = await made({
      imports: ["var_get", "var_set", "length", "load_u8"],
      texts: { name: "count", one: "1", two: "2" },
      run: `(local $b i64) (local.set $b (call $var_get (TEXT name)))
        (if (i64.eqz (local.get $b)) (then (call $var_set (TEXT name) (TEXT one)) (return (i32.const 0))))
        (call $var_set (TEXT name) (TEXT two))
        (i32.sub (call $load_u8 (local.get $b)) (i32.const 48))`,
    });
    const returns = async (owner: string) => (await test.call(counts, { owner, limits: LIMITS })).returncode;
    assert.deepEqual([await returns("a"), await returns("b")], [0, 0]);
    // The failing calls wrote 2, which nobody sees.
    assert.deepEqual([await returns("a"), await returns("a"), await returns("b")], [1, 1, 1]);
  });

  it("may hold only so much in variables", async () => {
    const module = await made({
      imports: ["var_set", "alloc"],
      texts: { name: "big" },
      run: "(call $var_set (TEXT name) (call $alloc (i64.const 2097152))) (i32.const 0)",
    });
    const result = await test.call(module, { limits: LIMITS });
    assert.equal(result.outcome, "exit");
    assert.match(result.error ?? "", /more than 1048576 bytes/);
  });

  it("emits names and numbers, and never text", async () => {
    const seen: unknown[] = [];
    const emits = (event: string) =>
      made({ imports: ["emit"], texts: { event }, run: "(call $emit (TEXT event)) (i32.const 0)" });
    const emit = (name: string, values: unknown) => seen.push([name, values]);
    await test.call(await emits(`{"name":"seen","values":{"n":2,"late":true}}`), { emit, limits: LIMITS });
    assert.deepEqual(seen, [["seen", { n: 2, late: true }]]);
    for (
      const event of [
        `{"name":"secret text"}`,
        `{"name":"a","values":{"b":"text"}}`,
        "[]",
        "x",
        `{"name":"a","values":{"b":1e999}}`,
      ]
    ) {
      const result = await test.call(await emits(event), { emit, limits: LIMITS });
      assert.equal(result.outcome, "exit", event);
    }
    assert.equal(seen.length, 1);
  });

  const request = (url: string) =>
    made({
      imports: ["http_request", "http_status_code", "length", "output_set"],
      texts: { request: JSON.stringify({ url, method: "POST", headers: { accept: "a" } }), body: "payload" },
      run: `(local $b i64) (local.set $b (call $http_request (TEXT request) (TEXT body)))
        (if (i32.ne (call $http_status_code) (i32.const 201)) (then (return (call $http_status_code))))
        ${OUTPUT} (i32.const 0)`,
    });

  it("without a grant sends nothing, and is recorded", async () => {
    requests.length = 0;
    const result = await test.call(await request("http://127.0.0.1:1/secret"), { limits: LIMITS });
    assert.equal(requests.length, 0);
    assert.deepEqual(result.denied, [{
      axis: "network",
      target: "127.0.0.1:1",
      reason: "the hook is granted no network",
    }]);
  });

  it("sends requests through reyn with its grant", async () => {
    requests.length = 0;
    const grants = { ...NO_GRANTS, network: ["api.example"] };
    const result = await test.call(await request("http://api.example/x"), { grants, limits: LIMITS });
    assert.deepEqual([result.outcome, textOf(result.output)], ["ok", "payload"], result.reason ?? "");
    const [sent] = requests;
    assert.deepEqual([sent?.url, sent?.method, sent?.headers, sent?.network], [
      "http://api.example/x",
      "POST",
      [["accept", "a"]],
      ["api.example"],
    ]);
  });

  it("is told that a request was refused, and so is the log", async () => {
    const grants = { ...NO_GRANTS, network: true };
    const result = await test.call(await request("http://forbidden.example/x?token=secret"), {
      grants,
      limits: LIMITS,
    });
    assert.deepEqual(result.denied, [{
      axis: "network",
      target: "forbidden.example",
      reason: "host_not_listed",
    }]);
    assert.match(result.log, /host_not_listed/);
  });

  it("that hangs delays no other beyond its own time", async () => {
    const loop = await made({ run: "(loop $l (br $l)) (i32.const 0)" });
    const fine = await made({ run: "(i32.const 0)" });
    const hanging = Array.from(
      { length: 6 },
      () => test.call(loop, { owner: "hangs", limits: { timeoutMs: 1500 } }),
    );
    const result = await test.call(fine, { owner: "fine", limits: LIMITS });
    assert.equal(result.outcome, "ok", result.reason ?? "");
    assert.deepEqual(
      new Set((await Promise.all(hanging)).map(({ outcome }) => outcome)),
      new Set(["timeout"]),
    );
  });

  it("that waits for the only process gets a whole one after another was ended in it", async () => {
    const small = await openTestHost({ mostChildren: 1 });
    try {
      const loop = await made({ run: "(loop $l (br $l)) (i32.const 0)" });
      const fine = await made({ run: "(i32.const 0)" });
      for (let round = 0; round < 3; round++) {
        const hanging = small.call(loop, { limits: { timeoutMs: 200 } });
        const waiting = Array.from({ length: 3 }, () => small.call(fine, { limits: LIMITS }));
        assert.equal((await hanging).outcome, "timeout");
        assert.deepEqual((await Promise.all(waiting)).map(({ outcome }) => outcome), ["ok", "ok", "ok"]);
        assert.equal(small.host.size(), 1);
      }
    } finally {
      await small.close();
    }
  });

  it("is ended with a signal when reyn stops", async () => {
    const ending = new AbortController();
    const loop = await made({ run: "(loop $l (br $l)) (i32.const 0)" });
    const call = test.call(loop, { signal: ending.signal, limits: LIMITS });
    setTimeout(() => ending.abort(), 50);
    assert.equal((await call).outcome, "signal");
  });

  it("leaves no process when its host is closed", async () => {
    const other = await openTestHost();
    const loop = await made({ run: "(loop $l (br $l)) (i32.const 0)" });
    const before = pluginProcesses().length;
    const call = other.call(loop, { limits: LIMITS });
    await new Promise((resolve) => setTimeout(resolve, 50));
    await other.close();
    assert.equal((await call).outcome, "signal");
    assert.ok(pluginProcesses().length < before);
  });
});

/** A WASI module that opens a path of its first granted folder; `rights` decides for what. It returns WASI's error. */
function opener(name: string, { create = false, write = false } = {}): Promise<Uint8Array> {
  const rights = write ? "66" : "2";
  return assemble(`(module
    (import "wasi_snapshot_preview1" "path_open" (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
    (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
    (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
    (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
    (import "extism:host/env" "store_u8" (func $store (param i64 i32)))
    (import "extism:host/env" "output_set" (func $output (param i64 i64)))
    (memory (export "memory") 1)
    (data (i32.const 100) ${JSON.stringify(name)})
    (data (i32.const 1000) "written")
    (func (export "_initialize"))
    (func (export "run") (result i32) (local $e i32) (local $b i64) (local $i i32)
      (local.set $e (call $open (i32.const 3) (i32.const 1) (i32.const 100) (i32.const ${name.length})
        (i32.const ${create ? 1 : 0}) (i64.const ${rights}) (i64.const 0) (i32.const 0) (i32.const 8)))
      (if (local.get $e) (then (return (local.get $e))))
      (i32.store (i32.const 16) (i32.const 1000)) (i32.store (i32.const 20) (i32.const 7))
      ${
    write
      ? "(return (call $write (i32.load (i32.const 8)) (i32.const 16) (i32.const 1) (i32.const 24)))"
      : `(local.set $e (call $read (i32.load (i32.const 8)) (i32.const 16) (i32.const 1) (i32.const 24)))
        (if (local.get $e) (then (return (local.get $e))))
        (local.set $b (call $alloc (i64.const 7)))
        (loop $l (call $store (i64.add (local.get $b) (i64.extend_i32_u (local.get $i))) (i32.load8_u (i32.add (i32.const 1000) (local.get $i))))
          (local.set $i (i32.add (local.get $i) (i32.const 1))) (br_if $l (i32.lt_u (local.get $i) (i32.const 7))))
        (call $output (local.get $b) (i64.const 7))`
  }
      (i32.const 0)))`);
}

describe("files of a WASI plugin", () => {
  let test: TestHost;
  let granted: string;
  const NOT_CAPABLE = 76;
  const READ_ONLY = 69;
  before(async () => {
    test = await openTestHost();
    granted = path.join(test.place.control, "granted");
    mkdirSync(path.join(granted, "sub"), { recursive: true });
    writeFileSync(path.join(granted, "inside"), "content");
    writeFileSync(path.join(test.place.control, "outside"), "secret!");
    symlinkSync("../outside", path.join(granted, "link-out"));
    symlinkSync(path.join(test.place.control, "outside"), path.join(granted, "link-absolute"));
    symlinkSync("../inside", path.join(granted, "sub", "link-in"));
    symlinkSync("loop", path.join(granted, "loop"));
  });
  after(async () => {
    await test.close();
  });
  const read = { ...NO_GRANTS, readPaths: ["granted"] };
  const write = { ...NO_GRANTS, writePaths: ["granted"] };

  it("are read below what is granted, through symlinks that stay there", async () => {
    for (const name of ["inside", "./sub/../inside", "sub/link-in"]) {
      const result = await test.call(moduleOf(await opener(name)), { grants: read, limits: LIMITS });
      assert.deepEqual(
        [result.outcome, textOf(result.output)],
        ["ok", "content"],
        `${name}: ${result.reason} ${result.returncode}`,
      );
    }
  });

  it("are not reached by .., an absolute path or a symlink that leads out, which is recorded", async () => {
    const absolute = path.join(test.place.control, "outside");
    for (
      const name of [
        "../outside",
        "sub/../../outside",
        absolute,
        "/etc/hostname",
        "link-out",
        "link-absolute",
      ]
    ) {
      const result = await test.call(moduleOf(await opener(name)), { grants: read, limits: LIMITS });
      assert.equal(result.returncode, NOT_CAPABLE, name);
      assert.deepEqual(result.denied.map(({ axis, target }) => [axis, target]), [["read", name]]);
    }
    const loop = await test.call(moduleOf(await opener("loop")), { grants: read, limits: LIMITS });
    assert.equal(loop.returncode, 32);
  });

  it("are written only where that is granted", async () => {
    const module = moduleOf(await opener("new", { create: true, write: true }));
    const refused = await test.call(module, { grants: read, limits: LIMITS });
    assert.equal(refused.returncode, READ_ONLY);
    assert.deepEqual(refused.denied.map(({ axis }) => axis), ["write"]);
    assert.ok(!existsSync(path.join(granted, "new")));
    const allowed = await test.call(module, { grants: write, limits: LIMITS });
    assert.equal(allowed.outcome, "ok", `${allowed.returncode} ${allowed.reason}`);
    assert.equal(readFileSync(path.join(granted, "new"), "utf8"), "written");
    const escape = moduleOf(await opener("../outside", { write: true }));
    assert.equal((await test.call(escape, { grants: write, limits: LIMITS })).returncode, NOT_CAPABLE);
    assert.equal(readFileSync(path.join(test.place.control, "outside"), "utf8"), "secret!");
  });

  it("are none without a grant", async () => {
    const result = await test.call(moduleOf(await opener("inside")), { limits: LIMITS });
    assert.equal(result.outcome, "exit");
    assert.notEqual(result.returncode, 0);
  });

  it("that are granted and do not exist stop the call before it begins", async () => {
    const grants = { ...NO_GRANTS, readPaths: ["nowhere"] };
    const result = await test.call(moduleOf(await opener("x")), { grants, limits: LIMITS });
    assert.deepEqual([result.outcome, result.reason], [
      "launch_failed",
      'read_paths: "nowhere" does not exist',
    ]);
  });

  it("and what a program prints is its output, its environment what the call gives", async () => {
    const program = await assemble(`(module
      (import "wasi_snapshot_preview1" "environ_sizes_get" (func $sizes (param i32 i32) (result i32)))
      (import "wasi_snapshot_preview1" "environ_get" (func $environ (param i32 i32) (result i32)))
      (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
      (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
      (memory (export "memory") 1)
      (func (export "_start")
        (drop (call $sizes (i32.const 0) (i32.const 4)))
        (drop (call $environ (i32.const 100) (i32.const 1000)))
        (i32.store (i32.const 16) (i32.const 1000)) (i32.store (i32.const 20) (i32.load (i32.const 4)))
        (drop (call $write (i32.const 1) (i32.const 16) (i32.const 1) (i32.const 24)))
        (call $exit (i32.const 4))))`);
    const result = await test.call(moduleOf(program), { export: "_start", env: { A: "1" }, limits: LIMITS });
    assert.deepEqual([result.outcome, result.returncode, textOf(result.output)], ["exit", 4, "A=1\0"]);
  });
});
