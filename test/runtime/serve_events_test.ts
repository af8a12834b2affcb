import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { eventHub } from "../../src/runtime/serve_events.ts";

const turn = (text: string) => ({ type: "valve_closed", count: 1, cap: 1, action: text, held: 0 }) as const;

function watching() {
  const seen: string[] = [];
  return {
    seen,
    watcher: {
      event: ({ id, data }: { id: string; data: string }) =>
        void seen.push(`${id} ${(JSON.parse(data) as { action: string }).action}`),
      gap: () => void seen.push("gap"),
    },
  };
}

describe("the event hub", () => {
  it("keeps nothing of a session that nobody ever watched", () => {
    const hub = eventHub("b");
    hub.publish("s", turn("early"));
    const one = watching();
    hub.watch("s", one.watcher);
    hub.publish("s", turn("late"));
    assert.deepEqual(one.seen, ["b.1 late"]);
  });

  it("gives one who comes back what it missed, each once and in order", () => {
    const hub = eventHub("b");
    const one = watching();
    hub.watch("s", one.watcher)();
    for (const text of ["1", "2", "3"]) hub.publish("s", turn(text));
    const back = watching();
    hub.watch("s", back.watcher, "b.1");
    hub.publish("s", turn("4"));
    assert.deepEqual(back.seen, ["b.2 2", "b.3 3", "b.4 4"]);
  });

  it("says that something is missing after an unknown id, that of another start included", () => {
    const hub = eventHub("b");
    const one = watching();
    hub.watch("s", one.watcher, "a.1");
    const two = watching();
    hub.watch("t", two.watcher, "b.1");
    assert.deepEqual([one.seen, two.seen], [["gap"], ["gap"]]);
  });

  it("keeps so many events and so many sessions that nobody watches, and no more", () => {
    const hub = eventHub("b");
    hub.watch("s", watching().watcher)();
    for (let count = 1; count <= 300; count++) hub.publish("s", turn(String(count)));
    const gone = watching();
    hub.watch("s", gone.watcher, "b.44");
    const there = watching();
    hub.watch("s", there.watcher, "b.45");
    assert.equal(gone.seen[0], "gap");
    assert.equal(there.seen.length, 255);

    for (let index = 0; index < 70; index++) {
      const stop = hub.watch(`t${index}`, watching().watcher);
      hub.publish(`t${index}`, turn("x"));
      stop();
    }
    const oldest = watching();
    hub.watch("t0", oldest.watcher, "b.1");
    const newest = watching();
    hub.watch("t69", newest.watcher, "b.1");
    assert.deepEqual([oldest.seen, newest.seen], [["gap"], []]);
  });

  it("keeps not more than a megabyte of a session, one event aside", () => {
    const hub = eventHub("b");
    hub.watch("s", watching().watcher)();
    for (let count = 1; count <= 3; count++) hub.publish("s", turn("x".repeat(700_000)));
    const back = watching();
    hub.watch("s", back.watcher, "b.2");
    assert.equal(back.seen[0], "gap");
    const last = watching();
    hub.watch("s", last.watcher, "b.3");
    assert.deepEqual(last.seen, []);
  });

  it("hands events on as they are to those inside, until they are told to stop", () => {
    const hub = eventHub("b");
    const seen: string[] = [];
    const stop = hub.tap("s", ({ type }) => void seen.push(type));
    hub.publish("s", turn("x"));
    stop();
    hub.publish("s", turn("y"));
    assert.deepEqual(seen, ["valve_closed"]);
  });
});
