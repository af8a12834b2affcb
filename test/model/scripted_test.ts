import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sequentialIds } from "../../src/clock/ids.ts";
import { virtualClock } from "../../src/clock/virtual_clock.ts";
import { scriptedModel } from "../../src/model/scripted.ts";
import type { ScriptEntry } from "../../src/model/script_file.ts";
import { answer, deltasOf, hello, request } from "./helpers.ts";

const plain = { toolCalls: [], delayMs: 0 };
const say = (text: string): ScriptEntry => ({ ...plain, say: text });
const play = (...entries: ScriptEntry[]) =>
  scriptedModel(entries, { clock: virtualClock(), ids: sequentialIds("call") });

describe("the scripted model", () => {
  it("plays one entry a step and echoes past its end", async () => {
    const model = play(say("one"), say("two"));
    assert.equal(await answer(model), "one");
    assert.equal(await answer(model), "two");
    assert.equal(await answer(model), "echo: hello");
    assert.equal(await answer(model), "echo: hello");
  });

  it("plays from the start for each session", async () => {
    const model = play(say("one"), say("two"));
    assert.equal(await answer(model), "one");
    assert.equal(await answer(model, request(hello, { session: "default/other" })), "one");
    assert.equal(await answer(model), "two");
  });

  it("gives text first, then tool calls with ids of their own", async () => {
    const model = play({
      ...plain,
      say: "let me see",
      toolCalls: [{ name: "read_file", args: { path: "a" } }, { name: "read_file", args: {} }],
    });
    assert.deepEqual(await deltasOf(model), [
      { type: "text", text: "let me see" },
      { type: "tool_call", call: { id: "call-1", name: "read_file", args: { path: "a" } } },
      { type: "tool_call", call: { id: "call-2", name: "read_file", args: {} } },
    ]);
  });

  it("fails where the script says so, then goes on with the next entry", async () => {
    const model = play({ ...plain, fail: "no credit" }, say("two"));
    await assert.rejects(answer(model), { code: "E_MODEL_FAILED", message: /no credit/ });
    assert.equal(await answer(model), "two");
  });

  it("waits for the delay on the clock", async () => {
    const clock = virtualClock();
    const model = scriptedModel([{ ...plain, say: "late", delayMs: 3000 }], {
      clock,
      ids: sequentialIds("c"),
    });
    let text = "";
    const asked = answer(model).then((got) => (text = got));
    await clock.advance(2999);
    assert.equal(text, "");
    await clock.advance(1);
    await asked;
    assert.equal(text, "late");
  });

  it("throws the reason when aborted in a delay, and holds no timer", async () => {
    const clock = virtualClock();
    const model = scriptedModel([{ ...plain, say: "late", delayMs: 3000 }], {
      clock,
      ids: sequentialIds("c"),
    });
    const controller = new AbortController();
    const asked = answer(model, undefined, controller.signal);
    await clock.advance(10);
    assert.equal(clock.armed(), 1);
    controller.abort(new Error("cancelled"));
    await assert.rejects(asked, /cancelled/);
    assert.equal(clock.armed(), 0);
  });
});
