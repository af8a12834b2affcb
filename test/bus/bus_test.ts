import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Bus, createBus } from "../../src/bus/bus.ts";
import { type BusEvent, busEvent } from "../../src/bus/event.ts";
import { systemClock } from "../../src/clock/clock.ts";
import { virtualClock } from "../../src/clock/virtual_clock.ts";

function event(n: number, kind = "a"): BusEvent {
  return busEvent({ id: `e${n}`, kind, payload: { n }, chainId: null, at: n });
}

function newBus(clock = virtualClock()) {
  const drops: string[] = [];
  const errors: string[] = [];
  const bus = createBus({
    clock,
    onDropped: (name, count) => drops.push(`${name} ${count}`),
    onError: (name, error) =>
      errors.push(`${name} ${error instanceof Error ? error.message : String(error)}`),
  });
  return { bus, drops, errors, clock };
}

function collect(bus: Bus, name: string, kinds = ["*"], limit = 128) {
  const seen: BusEvent[] = [];
  const subscription = bus.subscribe({ name, kinds, limit, handle: (one) => void seen.push(one) });
  return { seen, subscription };
}

/** A handler that is at work until it is let go on. */
function slow(bus: Bus, name: string, limit: number) {
  const seen: number[] = [];
  let release = () => {};
  bus.subscribe({
    name,
    kinds: ["*"],
    limit,
    handle: ({ payload }) => {
      seen.push(Number(payload["n"]));
      return new Promise((resolve) => release = resolve);
    },
  });
  return { seen, release: () => release() };
}

const macrotask = () => new Promise((resolve) => setTimeout(resolve, 1));

describe("the bus", () => {
  it("gives every subscriber each event of its kinds, the same object, in order", async () => {
    const { bus } = newBus();
    const all = collect(bus, "all");
    const one = collect(bus, "one", ["a"]);
    const composed = collect(bus, "composed", ["composed:*"]);
    const events = [event(1), event(2, "composed:x"), event(3)];
    for (const each of events) bus.publish(each);
    assert.equal(all.seen.length, 0);
    await bus.drained();
    assert.deepEqual(all.seen.map((seen, at) => seen === events[at]), [true, true, true]);
    assert.deepEqual(one.seen.map(({ id }) => id), ["e1", "e3"]);
    assert.deepEqual(composed.seen.map(({ id }) => id), ["e2"]);
  });

  it("does nothing where nobody is interested, and says so beforehand", async () => {
    const { bus } = newBus();
    assert.equal(bus.wants("a"), false);
    bus.publish(event(1));
    const { seen, subscription } = collect(bus, "late", ["a"]);
    assert.equal(bus.wants("a"), true);
    assert.equal(bus.wants("b"), false);
    await bus.drained();
    assert.deepEqual(seen, []);
    subscription.close();
    assert.equal(bus.wants("a"), false);
  });

  it("carries events that cannot be changed, down to what is in their payload", () => {
    const { payload, ...rest } = event(1);
    const made = busEvent({ ...rest, payload: { ...payload, list: [{ deep: {} }] } });
    const list = made.payload["list"];
    assert.ok(Array.isArray(list));
    for (const one of [made, made.payload, list, list[0], list[0].deep]) assert.ok(Object.isFrozen(one));
  });

  it("leaves the publisher out when it is told to", async () => {
    const { bus } = newBus();
    const own = collect(bus, "own");
    const other = collect(bus, "other");
    bus.publish(event(1), own.subscription);
    await bus.drained();
    assert.equal(own.seen.length, 0);
    assert.equal(other.seen.length, 1);
  });

  it("drops the oldest of a full queue, with one record of how many", async () => {
    const { bus, drops } = newBus();
    const { seen } = collect(bus, "tiny", ["*"], 2);
    for (let n = 1; n <= 205; n++) bus.publish(event(n));
    await bus.drained();
    assert.deepEqual(seen.map(({ id }) => id), ["e204", "e205"]);
    assert.deepEqual(drops, ["tiny 203"]);
  });

  it("drops nothing at exactly the bound", async () => {
    const { bus, drops } = newBus();
    const { seen } = collect(bus, "tiny", ["*"], 2);
    for (const n of [1, 2]) bus.publish(event(n));
    await bus.drained();
    assert.equal(seen.length, 2);
    assert.deepEqual(drops, []);
  });

  it("reports an episode that does not end in parts of a second", async () => {
    const { bus, drops, clock } = newBus();
    const stuck = slow(bus, "stuck", 1);
    bus.publish(event(0));
    await macrotask();
    for (let second = 0; second < 3; second++) {
      for (let n = 0; n < 10; n++) bus.publish(event(n));
      await clock.advance(1000);
    }
    assert.deepEqual(stuck.seen, [0]);
    assert.deepEqual(drops, ["stuck 9", "stuck 10"]);
  });

  it("does not let a slow subscriber, or one that throws, disturb another", async () => {
    const { bus, errors, drops } = newBus();
    const held = slow(bus, "slow", 2);
    bus.subscribe({
      name: "bad",
      kinds: ["*"],
      limit: 10,
      handle: ({ id }) => {
        if (id === "e2") return Promise.reject(new Error("later"));
        throw new Error("at once");
      },
    });
    const fast = collect(bus, "fast");
    for (const n of [1, 2, 3, 4]) bus.publish(event(n));
    await macrotask();
    assert.equal(fast.seen.length, 4);
    assert.deepEqual(errors, ["bad at once", "bad later", "bad at once", "bad at once"]);
    // Two of four had to go before the first was even taken.
    assert.deepEqual(held.seen, [3]);
    held.release();
    await macrotask();
    assert.deepEqual(held.seen, [3, 4]);
    assert.deepEqual(drops, ["slow 2"]);
    held.release();
    await bus.drained();
  });

  it("never drops from a queue without a limit, and tells sources when it is long", async () => {
    const { bus, drops } = newBus();
    const held = slow(bus, "kept", Infinity);
    for (let n = 0; n < 1000; n++) bus.publish(event(n));
    await macrotask();
    assert.equal(bus.relief(1000), undefined);
    let relieved = false;
    const relief = bus.relief(998)?.then(() => relieved = true);
    assert.ok(relief);
    await macrotask();
    assert.equal(relieved, false);
    for (let n = 0; n < 3; n++) {
      held.release();
      await macrotask();
    }
    assert.equal(relieved, true);
    assert.deepEqual(held.seen, [0, 1, 2, 3]);
    assert.deepEqual(drops, []);
  });

  it("keeps the events of two sessions apart", async () => {
    const one = newBus().bus;
    const other = newBus().bus;
    const { seen } = collect(other, "other");
    one.publish(event(1));
    await Promise.all([one.drained(), other.drained()]);
    assert.deepEqual(seen, []);
  });

  it("gives nothing to a subscriber that has closed, not even what was queued, and says what it dropped", async () => {
    const { bus, drops } = newBus();
    const { seen, subscription } = collect(bus, "gone");
    bus.publish(event(1));
    subscription.close();
    subscription.close();
    bus.publish(event(2));
    await bus.drained();
    assert.deepEqual(seen, []);
    assert.deepEqual(drops, ["gone 1"]);
  });
});

describe("a bus that is handing out", () => {
  it("lets timers run while a million events wait", async () => {
    const { bus } = newBus();
    const watch = createBus({ clock: systemClock, onDropped: () => {}, onError: () => {} });
    await bus.close();
    let handed = 0;
    watch.subscribe({ name: "s", kinds: ["a"], limit: Infinity, handle: () => void (handed += 1) });
    const one = event(1);
    let handedAtTimer = -1;
    setTimeout(() => handedAtTimer = handed, 0);
    for (let n = 0; n < 1_000_000; n++) watch.publish(one);
    await watch.drained();
    assert.equal(handed, 1_000_000);
    assert.ok(handedAtTimer >= 0 && handedAtTimer < 1_000_000, `${handedAtTimer} were handed out first`);
  });

  it("lets timers run while two subscribers answer each other without an end", async () => {
    const bus = createBus({ clock: systemClock, onDropped: () => {}, onError: () => {} });
    let going = true;
    const answer = (kind: string) => () => {
      if (going) bus.publish(event(1, kind));
    };
    bus.subscribe({ name: "ping", kinds: ["ping"], limit: 10, handle: answer("pong") });
    bus.subscribe({ name: "pong", kinds: ["pong"], limit: 10, handle: answer("ping") });
    bus.publish(event(1, "ping"));
    await new Promise<void>((resolve) =>
      setTimeout(() => {
        going = false;
        resolve();
      }, 5)
    );
    await bus.drained();
  });

  it("makes a source that publishes in a loop give way", async () => {
    const bus = createBus({ clock: systemClock, onDropped: () => {}, onError: () => {} });
    let timer = false;
    setTimeout(() => timer = true, 1);
    const until = performance.now() + 5000;
    while (!timer && performance.now() < until) {
      bus.publish(event(1));
      await bus.pace();
    }
    assert.equal(timer, true);
  });
});

describe("a bus that is closed", () => {
  it("hands out what is queued and takes nothing more", async () => {
    const { bus, drops } = newBus();
    const { seen } = collect(bus, "s");
    for (const n of [1, 2, 3]) bus.publish(event(n));
    const closed = bus.close();
    bus.publish(event(4));
    await closed;
    await bus.close();
    bus.publish(event(5));
    assert.equal(seen.length, 3);
    assert.deepEqual(drops, []);
  });

  it("does not wait longer than its grace for a subscriber that hangs, and records what it never got", async () => {
    const { bus, drops, clock } = newBus();
    const held = slow(bus, "hangs", 10);
    for (const n of [1, 2, 3]) bus.publish(event(n));
    let closed = false;
    const closing = bus.close({ graceMs: 1000 }).then(() => closed = true);
    await clock.advance(999);
    assert.equal(closed, false);
    await clock.advance(1);
    await closing;
    assert.deepEqual(held.seen, [1]);
    assert.deepEqual(drops, ["hangs 2"]);
  });
});
