import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { virtualClock } from "../../src/clock/virtual_clock.ts";
import { createRouter } from "../../src/runtime/route.ts";

const OWN = { agent: "a", sid: "main" };
const AGENT = { layer: "agent" } as const;

/** Nothing is stored but what is named. */
function router(stored: readonly string[] = []) {
  const clock = virtualClock();
  const store = {
    session: (id: string) => Promise.resolve(stored.includes(id) ? sessionRow(id) : undefined),
  };
  return { clock, to: createRouter({ store, agents: ["a", "b"], clock }).from(OWN) };
}

describe("the sessions that a push may name", () => {
  it("are those that exist, main of each agent, and by transport and id new ones of the same agent", async () => {
    const { to } = router(["b/old", "a/old"]);
    const startup = { layer: "startup" } as const;
    assert.deepEqual(await to("b/main", startup), { to: "session", id: "b/main" });
    assert.deepEqual(await to("b/old", startup), { to: "session", id: "b/old" });
    assert.deepEqual(await to("old", AGENT), { to: "session", id: "a/old" });
    assert.deepEqual(await to("slack:U1", AGENT), { to: "session", id: "a/slack:U1" });
    assert.deepEqual(await to("main", AGENT), { to: "own" });
    for (
      const [target, hook] of [
        ["b/slack:U1", startup],
        ["new", startup],
        ["c/main", startup],
        ["../x", startup],
        ["b/main", AGENT],
        ["b/old", AGENT],
      ] as const
    ) {
      assert.equal((await to(target, hook)).to, "refused", target);
    }
  });

  it("are at most 1000 new ones within an hour, of which each counts once", async () => {
    const { clock, to } = router(["a/chat:old"]);
    for (let n = 0; n < 1000; n++) {
      for (let again = 0; again < 2; again++) assert.equal((await to(`chat:${n}`, AGENT)).to, "session");
      if (n === 499) await clock.advance(1_800_000);
    }
    const beyond = await to("chat:more", AGENT);
    assert.ok(beyond.to === "refused" && /1000 sessions within an hour/.test(beyond.reason));
    assert.equal((await to("chat:7", AGENT)).to, "session");
    assert.equal((await to("chat:old", AGENT)).to, "session");
    await clock.advance(1_800_000);
    for (let n = 0; n < 500; n++) assert.equal((await to(`later:${n}`, AGENT)).to, "session");
    assert.equal((await to("later:more", AGENT)).to, "refused");
  });
});

function sessionRow(id: string) {
  const none = { owner: null, epoch: 0, walSeq: 0, status: {}, createdAt: 0, updatedAt: 0 };
  return { id, ...none, waking: 0, passive: 0 };
}
