import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { encodeNumber } from "../../../src/sandbox/wasm/binary.ts";
import { MOST_MODULE_BYTES } from "../../../src/sandbox/wasm/limits.ts";
import { inspectModule } from "../../../src/sandbox/wasm/module_info.ts";
import { rewriteModule } from "../../../src/sandbox/wasm/rewrite_module.ts";
import { assemble } from "./modules.ts";

const MIB = 1024 * 1024;
const WANTED = { exportName: "run", memoryBytes: 64 * MIB };

function reasonOf(bytes: Uint8Array, wanted = WANTED): string {
  const found = inspectModule(bytes, wanted);
  return found.ok ? "" : found.reason;
}

describe("looking at a module", () => {
  it("tells what can be called, and what it begins with", async () => {
    const found = inspectModule(
      await assemble(`(module
        (import "extism:host/env" "http_request" (func (param i64 i64) (result i64)))
        (memory (export "memory") 3)
        (func (export "run") (result i32) (i32.const 0))
        (func (export "nothing"))
        (func (export "more") (param i32)))`),
      WANTED,
    );
    assert.ok(found.ok);
    assert.deepEqual(found.info, {
      callable: ["run", "nothing"],
      exports: ["run", "nothing", "more"],
      usesWasi: false,
      usesHttp: true,
      initialMemoryBytes: 3 * 65_536,
    });
  });

  it("refuses what is no module, however it is cut", async () => {
    const whole = await assemble(`(module
      (import "extism:host/user" "now" (func (result i64)))
      (memory 1) (table 4 funcref)
      (func (export "run") (result i32) (i32.const 0)))`);
    assert.equal(reasonOf(whole), "");
    for (let length = 0; length < whole.length; length++) {
      // Cut at the end of a section it is a module that lacks something.
      assert.notEqual(reasonOf(whole.subarray(0, length)), "", `cut at ${length}`);
    }
    assert.match(reasonOf(new TextEncoder().encode("#!/bin/sh\n")), /does not begin as a module does/);
    assert.match(reasonOf(Uint8Array.from([0, 0x61, 0x73, 0x6d, 0x0d, 0, 1, 0])), /it is a component/);
    assert.match(reasonOf(new Uint8Array(MOST_MODULE_BYTES + 1)), /larger than/);
  });

  it("never throws on bytes that were changed", async () => {
    const whole = await assemble(`(module
      (import "extism:host/user" "now" (func (result i64)))
      (memory 1) (table 4 funcref)
      (func (export "run") (result i32) (i32.const 0)))`);
    let seed = 1;
    for (let round = 0; round < 3000; round++) {
      const bytes = Uint8Array.from(whole);
      for (let k = 0; k < 3; k++) {
        seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
        bytes[8 + seed % (bytes.length - 8)] = seed >> 8 & 0xff;
      }
      if (!inspectModule(bytes, WANTED).ok) continue;
      try {
        rewriteModule(bytes, MIB);
      } catch (error) {
        assert.equal(error?.constructor.name, "Malformed");
      }
    }
  });

  it("refuses memories that cannot be bounded", async () => {
    const withMemory = (memory: string) =>
      assemble(`(module ${memory} (func (export "run") (result i32) (i32.const 0)))`);
    assert.match(reasonOf(await withMemory("(memory i64 1)")), /64-bit memory/);
    assert.match(reasonOf(await withMemory("(memory 1 2 shared)")), /shared memory/);
    assert.match(
      reasonOf(await withMemory(`(import "env" "memory" (memory 1025))`)),
      /begins with 67174400 bytes/,
    );
    const two = Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 5, 5, 2, 0, 1, 0, 1]);
    assert.match(reasonOf(two), /more than one memory/);
  });

  it("refuses a table without end", async () => {
    const bytes = await assemble(`(module (table 10000000 funcref) (func (export "run")))`);
    assert.match(reasonOf(bytes), /its tables have more than 1000000 entries/);
    const many = await assemble(
      `(module ${"(table 200000 funcref)".repeat(6)} (func (export "run")))`,
    );
    assert.match(reasonOf(many), /its tables have more than 1000000 entries/);
  });

  it("refuses any number of parts before it reads them", () => {
    const HEAD = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
    const many = encodeNumber(2_000_000);
    const declares = (id: number) => Uint8Array.from([...HEAD, id, many.length, ...many]);
    for (
      const [id, what] of [[1, "types"], [2, "imports"], [3, "functions"], [4, "tables"], [
        7,
        "exports",
      ]] as const
    ) {
      assert.match(reasonOf(declares(id)), new RegExp(`more than \\d+ ${what}`));
    }
    const sections = new Uint8Array(8 + 2 * 1_000_000);
    sections.set(HEAD);
    const began = performance.now();
    assert.match(reasonOf(sections), /more than 1000 sections/);
    assert.ok(performance.now() - began < 250);
  });

  it("takes names that every object has for what they are", async () => {
    for (
      const [module, name] of [["constructor", "name"], ["__proto__", "toString"], [
        "extism:host/env",
        "constructor",
      ]]
    ) {
      const bytes = await assemble(`(module (import "${module}" "${name}" (func)) (func (export "run")))`);
      assert.match(reasonOf(bytes), /imports what the host does not offer/);
    }
    const named = await assemble(
      `(module (func (export "constructor")) (func (export "__proto__")) (func (export "then")) (func (export "run")))`,
    );
    assert.equal(reasonOf(named), "");
    assert.match(reasonOf(named, { ...WANTED, exportName: "toString" }), /does not export "toString"/);
  });

  it("refuses exports that are called as reyn's own", async () => {
    const bytes = await assemble(
      `(module (func (export "reyn:_initialize")) (func (export "_initialize")) (func (export "run")))`,
    );
    assert.match(reasonOf(bytes), /"reyn:_initialize" has a name that is reyn's own/);
  });
});

describe("bounds written into a module", () => {
  /** Grows its memory by pages until that fails, and gives how many there are. */
  const grower = (memory: string) =>
    assemble(`(module ${memory}
      (func (export "run") (result i32)
        (loop $l (br_if $l (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))) (memory.size)))`);
  const pagesOf = async (bytes: Uint8Array, memoryBytes: number): Promise<unknown> => {
    const rewritten = Uint8Array.from(rewriteModule(bytes, memoryBytes));
    const { instance } = await WebAssembly.instantiate(rewritten, {});
    const { run } = instance.exports;
    assert.ok(typeof run === "function");
    return Reflect.apply(run, undefined, []);
  };

  it("hold for a memory without a maximum, with a larger and with a smaller one", async () => {
    assert.equal(await pagesOf(await grower("(memory 1)"), 20 * 65_536), 20);
    assert.equal(await pagesOf(await grower("(memory 1 60000)"), 20 * 65_536), 20);
    assert.equal(await pagesOf(await grower("(memory 1 7)"), 20 * 65_536), 7);
  });

  it("hold for a memory that would be imported, which becomes the module's own", async () => {
    assert.equal(await pagesOf(await grower(`(import "env" "memory" (memory 2 60000))`), 20 * 65_536), 20);
  });

  it("leave what else there is as it was", async () => {
    const bytes = await assemble(`(module
      (memory (export "memory") 1) (data (i32.const 0) "\\07") (table 2 funcref) (elem (i32.const 1) $seven)
      (global $g i32 (i32.const 1))
      (func $seven (result i32) (i32.load8_u (i32.const 0)))
      (func (export "run") (result i32) (call_indirect (result i32) (global.get $g))))`);
    assert.equal(await pagesOf(bytes, MIB), 7);
  });

  it("keep the SDK from what it would call by itself, and from a WASI of its own", async () => {
    const bytes = await assemble(`(module
      (import "wasi_snapshot_preview1" "sched_yield" (func (result i32)))
      (func (export "_start")) (func (export "_initialize")) (func (export "run")))`);
    const module = await WebAssembly.compile(Uint8Array.from(rewriteModule(bytes, MIB)));
    assert.deepEqual(WebAssembly.Module.exports(module).map(({ name }) => name), [
      "reyn:_start",
      "reyn:_initialize",
      "run",
    ]);
    assert.deepEqual(WebAssembly.Module.imports(module).map((one) => one.module), ["reyn:wasi"]);
  });

  it("are numbers in the form of the format", () => {
    assert.deepEqual(encodeNumber(0), [0]);
    assert.deepEqual(encodeNumber(624_485), [0xe5, 0x8e, 0x26]);
    assert.deepEqual(encodeNumber(2 ** 32 - 1), [0xff, 0xff, 0xff, 0xff, 0x0f]);
  });
});
