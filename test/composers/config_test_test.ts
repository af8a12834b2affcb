import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { differences } from "../../src/composers/testing/compare.ts";
import type { Happening } from "../../src/composers/testing/happenings.ts";

const fire = (composer: string, at: number, key = "k", payload = {}): Happening => ({
  what: "fire",
  at,
  composer,
  key,
  kind: `composed:${composer}`,
  payload,
});
const push = (hook: string, text: string, wake = true): Happening => ({
  what: "push",
  at: 0,
  hook,
  text,
  wake,
});
const said = (expected: Parameters<typeof differences>[0], happened: Happening[]) =>
  differences(expected, happened).map(({ path, message }) => `${path.join(".")}: ${message.split(",")[0]}`);

describe("what a test expects", () => {
  it("is complete for the composers that it names, and says nothing of others", () => {
    const happened = [fire("a", 1000), fire("b", 2000), fire("a", 3000)];
    assert.deepEqual(said({ fires: [{ composer: "a", at: 1000 }, { composer: "a" }] }, happened), []);
    assert.deepEqual(said({ fires: [{ composer: "a" }] }, happened), [
      'fires: one more than expected: composer "a" fired at 3s for the key "k"',
    ]);
    assert.deepEqual(said({ fires: [{ composer: "b" }, { composer: "b" }] }, happened), [
      'fires.1: expected "b" here',
    ]);
  });

  it("is that nothing happens when the list is empty", () => {
    assert.deepEqual(said({ fires: [], pushes: [], runs: [], drops: [] }, []), []);
    assert.deepEqual(said({ pushes: [] }, [push("h", "x")]), ["pushes: expected none"]);
    assert.deepEqual(said({ fires: [] }, [push("h", "x")]), []);
  });

  it("compares what is given of a push, and only that", () => {
    const happened = [push("h", "hello world", false)];
    assert.deepEqual(said({ pushes: [{ hook: "h" }] }, happened), []);
    assert.deepEqual(said({ pushes: [{ hook: "h", contains: "world", wake: false, at: 0 }] }, happened), []);
    assert.deepEqual(said({ pushes: [{ hook: "h", text: "hello" }] }, happened), [
      'pushes.0: expected the text "hello"',
    ]);
    assert.deepEqual(said({ pushes: [{ hook: "h", wake: true }] }, happened), [
      "pushes.0: expected wake: true",
    ]);
    assert.deepEqual(said({ pushes: [{ hook: "h", at: 1 }] }, happened), ["pushes.0: expected it at 1ms"]);
  });

  it("asks a payload for the fields given, lists item by item", () => {
    const payload = { inputs: [{ a: 1, b: 2 }], correlation_key: "k" };
    const wants = (wanted: Record<string, never>) =>
      said({ fires: [{ composer: "a", payload: wanted }] }, [fire("a", 0, "k", payload)]);
    assert.deepEqual(wants({ inputs: [{ a: 1 }] } as never), []);
    assert.deepEqual(wants({ inputs: [{ a: 2 }] } as never), [
      "fires.0: expected payload.inputs[0].a to be 2",
    ]);
    assert.deepEqual(wants({ inputs: [] } as never), ["fires.0: expected payload.inputs to have 0 items"]);
    assert.deepEqual(wants({ toString: {} } as never), ["fires.0: expected payload.toString"]);
  });

  it("is not met by a hook that fails, whatever else is expected", () => {
    const failure: Happening = { what: "failure", at: 0, hook: "h", error: "message: no" };
    assert.deepEqual(said({ fires: [] }, [failure]), [': hook "h" failed at 0s: message: no']);
    assert.deepEqual(said({ never: ["h"] }, [push("h", "x"), fire("h2", 0)]), [
      'never.0: "h" did something: hook "h" pushed "x" at 0s',
    ]);
  });
});
