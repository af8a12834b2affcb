import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { virtualClock } from "../../src/clock/virtual_clock.ts";
import { loadedSessions } from "../../src/runtime/loaded_sessions.ts";
import type { Session } from "../../src/session/session.ts";

const REF = { agent: "default", sid: "a" };

/** Sessions that leave when they are told to; `there`: how many of one id are at the same time. */
function world() {
  const clock = virtualClock();
  const state = { there: 0, most: 0 };
  const leave: (() => void)[] = [];
  const leaving = () =>
    new Promise<void>((resolve) =>
      leave.push(() => {
        state.there -= 1;
        resolve();
      })
    );
  const sessions = loadedSessions({
    clock,
    keepMs: 1000,
    most: 10,
    put: () => Promise.resolve("stored"),
    onFailure: (_id, error) => {
      throw error;
    },
    onGone: () => {},
    open() {
      state.there += 1;
      state.most = Math.max(state.most, state.there);
      const session = { id: "default/a", busy: false, stop() {}, unload: leaving, close: leaving };
      return Promise.resolve(session as unknown as Session);
    },
  });
  const settle = async () => {
    for (let n = 0; n < 20; n += 1) await turn();
  };
  return { clock, state, leave, sessions, settle };
}

describe("loaded sessions", () => {
  it("open one anew only when nothing is left of it, also where it is ended while it is being unloaded", async () => {
    const { clock, state, leave, sessions, settle } = world();
    await sessions.load(REF);
    await clock.advance(3000);
    await settle();
    assert.equal(leave.length, 1, "it is being unloaded");
    const ended = sessions.end(REF);
    leave.shift()?.();
    await settle();
    assert.equal(leave.length, 1, "it was opened anew, and is being closed");
    const again = sessions.load(REF);
    await settle();
    assert.deepEqual(state, { there: 1, most: 1 });
    leave.shift()?.();
    await Promise.all([ended, again]);
    assert.deepEqual(state, { there: 1, most: 1 });
  });
});
