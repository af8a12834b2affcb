import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { virtualClock } from "../../src/clock/virtual_clock.ts";
import { ReynError } from "../../src/errors/reyn_error.ts";
import type { LoadedSession } from "../../src/runtime/loaded_sessions.ts";
import {
  MOST_MADE,
  MOST_WAITING,
  type OutsideEvent,
  serverPublishing,
} from "../../src/runtime/serve_publish.ts";
import type { Session } from "../../src/session/session.ts";

const A = { agent: "default", sid: "a" };
const B = { agent: "default", sid: "b" };

interface FakeSession {
  publish(event: { id: string }): Promise<void>;
  hears(kind: string): boolean;
  waitingEvents: number;
}

/** Sessions that load when they are told to. */
function world() {
  const clock = virtualClock();
  const published: string[] = [];
  const outcomes: unknown[] = [];
  const made = (): FakeSession => ({
    publish(event) {
      published.push(event.id);
      return Promise.resolve();
    },
    hears: (kind) => kind !== "http:t:unheard",
    waitingEvents: 0,
  });
  const state = {
    stopping: false,
    loading: new Map<string, Promise<unknown>>(),
    sessions: new Map<string, FakeSession>(),
    stored: new Set<string>(),
  };
  const publish = serverPublishing({
    clock,
    audit: {
      emit: (_type, _session, data) => void outcomes.push((data as unknown as { outcome: string }).outcome),
    },
    sessions: {
      async load({ agent, sid }) {
        const id = `${agent}/${sid}`;
        const session = state.sessions.get(id) ?? made();
        state.sessions.set(id, session);
        await state.loading.get(id);
        return session as unknown as Session;
      },
      loaded(id) {
        const session = state.sessions.get(id);
        return session && { id, session, active: false } as unknown as LoadedSession;
      },
    },
    exists: (id) => Promise.resolve(state.stored.has(id)),
    requireRunning() {
      if (state.stopping) throw new ReynError("E_STOPPING", "stopping");
    },
  });
  let count = 0;
  const event = (fields: Partial<OutsideEvent> = {}): OutsideEvent => ({
    kind: "http:t:done",
    payload: {},
    id: `e${++count}`,
    repeatable: false,
    by: "t",
    ...fields,
  });
  return { clock, published, outcomes, made, state, publish, event };
}

describe("events from outside", () => {
  it("make so many sessions within an hour, and go on into those that are there", async () => {
    const { publish, event, state, clock } = world();
    for (let n = 0; n < MOST_MADE; n++) await publish({ agent: "default", sid: `s${n}` }, event());
    await assert.rejects(publish(A, event()), { code: "E_EVENTS_FULL", message: /made 1000 sessions/ });
    assert.equal(await publish({ agent: "default", sid: "s1" }, event()), "heard");
    state.stored.add("default/b");
    assert.equal(await publish(B, event()), "heard");
    await clock.advance(3_600_000);
    assert.equal(await publish(A, event()), "heard");
  });

  it("are published where a composer waits for them, and told of where none does", async () => {
    const { publish, event, published, outcomes } = world();
    assert.equal(await publish(A, event()), "heard");
    assert.equal(await publish(A, event({ kind: "http:t:unheard" })), "unheard");
    assert.deepEqual([published, outcomes], [["e1"], ["heard", "unheard"]]);
  });

  it("are refused while so many wait in the session, and taken again afterwards", async () => {
    const { publish, event, state, published } = world();
    await publish(A, event());
    const session = state.sessions.get("default/a");
    assert.ok(session);
    session.waitingEvents = MOST_WAITING;
    await assert.rejects(publish(A, event()), { code: "E_EVENTS_FULL" });
    assert.equal(await publish(B, event()), "heard");
    session.waitingEvents = MOST_WAITING - 1;
    assert.equal(await publish(A, event()), "heard");
    assert.deepEqual(published, ["e1", "e3", "e4"]);
  });

  it("wait for a session that loads slowly ten seconds, and few of them at a time", async () => {
    const { publish, event, state, clock, published } = world();
    state.loading.set("default/a", new Promise(() => {}));
    const waiting = Array.from({ length: 64 }, () => publish(A, event()).catch((error: unknown) => error));
    await assert.rejects(publish(A, event()), {
      code: "E_EVENTS_FULL",
      message: /64 events are being taken/,
    });
    assert.equal(await publish(B, event()), "heard");
    await clock.advance(9_999);
    state.loading.delete("default/a");
    await assert.rejects(publish(A, event()), { code: "E_EVENTS_FULL" });
    await clock.advance(1);
    for (const error of await Promise.all(waiting)) {
      assert.ok(error instanceof ReynError);
      assert.match(error.message, /still being opened/);
    }
    assert.equal(await publish(A, event()), "heard");
    assert.equal(published.length, 2);
    assert.equal(clock.armed(), 0);
  });

  it("go to the session that took the place of one that ended while they came", async () => {
    const { publish, event, state, made, published } = world();
    const loading = Promise.withResolvers<void>();
    const gone = made();
    gone.publish = () => Promise.reject(new Error("it is gone"));
    state.sessions.set("default/a", gone);
    state.loading.set("default/a", loading.promise);
    const sent = publish(A, event());
    await Promise.resolve();
    state.sessions.set("default/a", made());
    loading.resolve();
    assert.equal(await sent, "heard");
    assert.deepEqual(published, ["e1"]);
  });

  it("are refused when the server was asked to stop while their session loaded", async () => {
    const { publish, event, state, published } = world();
    const loading = Promise.withResolvers<void>();
    state.loading.set("default/a", loading.promise);
    const sent = publish(A, event());
    state.stopping = true;
    loading.resolve();
    await assert.rejects(sent, { code: "E_STOPPING" });
    assert.deepEqual(published, []);
  });

  it("that are not on disk are told as that, and taken when they are sent again", async () => {
    const { publish, event, state, made } = world();
    const session = made();
    let failing = true;
    session.publish = () => failing ? Promise.reject(new Error("no space")) : Promise.resolve();
    state.sessions.set("default/a", session);
    const sent = event({ id: "k", repeatable: true });
    await assert.rejects(publish(A, sent), { code: "E_STATE_IO" });
    failing = false;
    assert.equal(await publish(A, sent), "heard");
    assert.equal(await publish(A, sent), "duplicate");
  });

  it("under the key of another one are refused, whatever the order of what they hold", async () => {
    const { publish, event, published } = world();
    const sent = (fields: Partial<OutsideEvent>) => event({ id: "k", repeatable: true, ...fields });
    assert.equal(await publish(A, sent({ payload: { a: 1, b: { c: [1], d: 2 } } })), "heard");
    assert.equal(await publish(A, sent({ payload: { b: { d: 2, c: [1] }, a: 1 } })), "duplicate");
    for (
      const other of [
        { payload: { a: 1, b: { c: [1], d: 3 } } },
        { payload: { a: 1, b: [["c", [1]], ["d", 2]] } },
        { payload: { a: 1, b: { c: [1], d: 2 } }, kind: "http:t:other" },
      ]
    ) await assert.rejects(publish(A, sent(other)), { code: "E_MESSAGE_KEY" });
    assert.deepEqual(published, ["k"]);
  });
});
