import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { virtualClock } from "../../../src/clock/virtual_clock.ts";
import { MOST_FAULTS, openBreaker } from "../../../src/sandbox/wasm/breaker.ts";
import { parseHead, resultWords } from "../../../src/sandbox/wasm/check_protocol.ts";
import { encodeFrame, frameReader, KIND } from "../../../src/sandbox/wasm/frames.ts";
import { MOST_VARIABLE_BYTES } from "../../../src/sandbox/wasm/limits.ts";
import { decodeResult, encodeResult } from "../../../src/sandbox/wasm/result_frame.ts";
import { openVariables } from "../../../src/sandbox/wasm/variables.ts";

describe("frames", () => {
  const first = encodeFrame(KIND.call, { a: "é" }, Uint8Array.from([1, 2, 3]));
  const second = encodeFrame(KIND.result, {});
  const both = Uint8Array.from([...first, ...second]);

  it("come out whole, however they are cut", () => {
    for (let cut = 1; cut < both.length; cut++) {
      const read = frameReader(1000);
      const found = [both.subarray(0, cut), both.subarray(cut)].flatMap((chunk) => {
        const result = read(chunk);
        assert.ok(result.ok);
        return result.frames;
      });
      assert.deepEqual(found.map(({ kind, head, body }) => [kind, head, [...body]]), [
        [KIND.call, `{"a":"é"}`, [1, 2, 3]],
        [KIND.result, "{}", []],
      ]);
    }
  });

  it("that are too long, of no kind or torn inside are none", () => {
    assert.equal(frameReader(10)(first).ok, false);
    const unknown = Uint8Array.from(first);
    unknown[4] = 99;
    assert.equal(frameReader(1000)(unknown).ok, false);
    const torn = Uint8Array.from(first);
    torn[5] = 255;
    assert.equal(frameReader(1000)(torn).ok, false);
  });
});

describe("variables", () => {
  it("are seen by others once they are kept", () => {
    const all = openVariables();
    const call = all.begin("a");
    call.set("x", Uint8Array.from([1]));
    assert.deepEqual(call.get("x"), Uint8Array.from([1]));
    assert.equal(all.begin("a").get("x"), undefined);
    call.keep();
    assert.deepEqual(all.begin("a").get("x"), Uint8Array.from([1]));
    assert.equal(all.begin("b").get("x"), undefined);
    const remover = all.begin("a");
    remover.set("x", undefined);
    assert.equal(remover.get("x"), undefined);
    remover.keep();
    assert.equal(all.begin("a").get("x"), undefined);
  });

  it("are bounded together, and what does not fit changes nothing", () => {
    const call = openVariables().begin("a");
    assert.equal(call.set("x", new Uint8Array(MOST_VARIABLE_BYTES - 10)), undefined);
    assert.match(call.set("y", new Uint8Array(20)) ?? "", /more than 1048576 bytes/);
    assert.equal(call.get("y"), undefined);
    assert.equal(call.set("x", new Uint8Array(1)), undefined);
  });
});

describe("a plugin that fails", () => {
  it("waits longer each time, from the second on, and is called again after it did well", () => {
    const clock = virtualClock();
    const breaker = openBreaker(clock);
    const waits = Array.from({ length: MOST_FAULTS - 1 }, () => {
      breaker.fault("a");
      return breaker.waitMs("a");
    });
    assert.deepEqual(waits, [0, 50, 100, 200]);
    assert.equal(breaker.waitMs("b"), 0);
    breaker.good("a");
    assert.deepEqual([breaker.waitMs("a"), breaker.faults("a")], [0, 0]);
  });

  it("so often in a row is not called any more", () => {
    const breaker = openBreaker(virtualClock());
    const last = Array.from({ length: MOST_FAULTS }, () => breaker.fault("a"));
    assert.deepEqual(last, [false, false, false, false, true]);
    assert.ok(breaker.isOpen("a"));
    assert.ok(!breaker.isOpen("b"));
  });
});

describe("a result", () => {
  const plain = {
    outcome: "exit" as const,
    returncode: -7,
    hostCalls: 100_000,
    memoryBytes: 1024 ** 3,
    reason: null,
    error: null,
    log: "",
    denied: [],
    deniedMore: 0,
  };
  const words = (text: string) => parseHead(resultWords, text);
  const through = (bytes: Uint8Array) => {
    const read = frameReader(100_000)(bytes);
    assert.ok(read.ok);
    const [frame] = read.frames;
    assert.ok(frame);
    return decodeResult(frame, words);
  };

  it("comes through as it was, with words and without", () => {
    const output = Uint8Array.from([1, 2, 3]);
    const said = {
      ...plain,
      reason: "é",
      log: "x\n",
      denied: [{ axis: "read" as const, target: "/", reason: "no" }],
      deniedMore: 2,
    };
    for (const head of [plain, said]) {
      const found = through(encodeResult(head, output));
      assert.deepEqual(found?.head, head);
      assert.deepEqual([...found?.output ?? []], [1, 2, 3]);
    }
  });

  it("of an unknown outcome, cut short or with words of another form is none", () => {
    const bytes = Uint8Array.from(encodeResult(plain, new Uint8Array()));
    const unknown = Uint8Array.from(bytes);
    unknown[9] = 200;
    assert.equal(through(unknown), undefined);
    assert.equal(through(encodeFrame(KIND.result, undefined, new Uint8Array(12))), undefined);
    const odd = [{}, { ...plain }, { reason: "x".repeat(5000) }, { log: 1 }, null];
    for (const head of odd) {
      assert.equal(through(encodeFrame(KIND.result, head, bytes.subarray(9))), undefined);
    }
  });
});
