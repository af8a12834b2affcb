import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readEvents } from "../../src/server/read_events.ts";

async function* pieces(...texts: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for (const text of texts) {
    yield await Promise.resolve(typeof text === "string" ? encoder.encode(text) : text);
  }
}

async function all(source: AsyncIterable<unknown>) {
  const events = [];
  for await (const event of readEvents(source)) events.push(event);
  return events;
}

describe("reading an event stream", () => {
  it("is not troubled by where its pieces are cut", async () => {
    const whole = new TextEncoder().encode(
      ': beat\n\nid: 1\nevent: reply\ndata: {"text":"größer 😀"}\n\ndata: a\ndata: b\n\n',
    );
    const expected = [
      { id: "1", type: "reply", data: '{"text":"größer 😀"}' },
      { id: undefined, type: "message", data: "a\nb" },
    ];
    for (let cut = 0; cut <= whole.length; cut++) {
      assert.deepEqual(await all(pieces(whole.subarray(0, cut), whole.subarray(cut))), expected);
    }
  });

  it("leaves out an event that was cut off", async () => {
    assert.deepEqual(await all(pieces("data: a\n\ndata: b")), [{
      id: undefined,
      type: "message",
      data: "a",
    }]);
  });
});
