import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createEventMemory } from "../../src/runtime/event_memory.ts";

describe("the memory of events", () => {
  const counting = () => {
    let done = 0;
    return { work: () => Promise.resolve(++done), done: () => done };
  };

  it("does the work of one id once, session by session", async () => {
    const memory = createEventMemory();
    const { work, done } = counting();
    assert.equal(await memory.once("a", "k", "x", work), 1);
    assert.equal(await memory.once("a", "k", "x", work), "duplicate");
    assert.equal(await memory.once("b", "k", "x", work), 2);
    assert.equal(done(), 2);
  });

  it("lets whoever comes second wait, and do it where the first one failed", async () => {
    const memory = createEventMemory();
    const first = Promise.withResolvers<number>();
    const one = memory.once("a", "k", "x", () => first.promise);
    const two = memory.once("a", "k", "x", () => Promise.resolve(2));
    const three = memory.once("a", "k", "x", () => Promise.resolve(3));
    first.reject(new Error("the disk is full"));
    await assert.rejects(one, /full/);
    assert.deepEqual([await two, await three], [2, "duplicate"]);
  });

  it("tells another event under the id of one that was taken from a repetition, and takes it where that one failed", async () => {
    const memory = createEventMemory();
    const { work } = counting();
    await assert.rejects(memory.once("a", "k", "x", () => Promise.reject(new Error("full"))));
    assert.equal(await memory.once("a", "k", "y", work), 1);
    assert.equal(await memory.once("a", "k", "x", work), "conflict");
    assert.equal(await memory.once("a", "k", "y", work), "duplicate");
  });

  it("forgets the oldest of a session, and the session left the longest", async () => {
    const memory = createEventMemory(2, 4);
    const { work } = counting();
    const isKnown = async (session: string, id: string) =>
      await memory.once(session, id, "x", () => Promise.reject(new Error("new"))).catch(() => "new") ===
        "duplicate";
    for (const id of ["1", "2", "3"]) await memory.once("a", id, "x", work);
    // What is not known is asked for last: asking takes a place.
    assert.deepEqual([await isKnown("a", "3"), await isKnown("a", "2"), await isKnown("a", "1")], [
      true,
      true,
      false,
    ]);
    await memory.once("a", "3", "x", work);
    for (const id of ["1", "2"]) await memory.once("b", id, "x", work);
    await memory.once("c", "1", "x", work);
    assert.equal(await isKnown("a", "3"), true);
    await memory.once("c", "2", "x", work);
    assert.deepEqual([await isKnown("b", "2"), await isKnown("c", "2"), await isKnown("a", "3")], [
      true,
      true,
      false,
    ]);
  });
});
