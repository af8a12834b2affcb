import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate } from "node:timers";
import { createBus } from "../../src/bus/bus.ts";
import { type BusEvent, busEvent } from "../../src/bus/event.ts";
import { systemClock } from "../../src/clock/clock.ts";
import { steppedClock } from "../../src/clock/stepped_clock.ts";
import { createTimerQueue } from "../../src/clock/timer_queue.ts";
import type { Clock } from "../../src/clock/clock.ts";
import type { Composer } from "../../src/composers/composer.ts";
import { createEngine } from "../../src/composers/engine.ts";
import { composer, input, numbers, world } from "./support.ts";

describe("what an engine tells of itself", () => {
  it("is what waits for it, and what its composers hold, the oldest first", async () => {
    const { engine, publish, send, clock } = world([
      composer({ op: "count", name: "c", count: 3, correlateBy: "id", inputs: [input("a")] }),
      composer({ op: "any", name: "stateless", inputs: [input("a")] }),
    ]);
    const start = clock.now();
    await send("a", { id: 1 });
    await clock.advance(500);
    await send("a", { id: 2 });
    await send("a", { id: 1 });
    publish("a", { id: 3 });
    assert.equal(engine.queued, 1);
    const [counting, stateless] = engine.holdings(1);
    assert.deepEqual(counting?.keys, [{ key: "1", createdAt: start, lastAt: start + 500, events: 2 }]);
    assert.deepEqual([counting?.pending, stateless?.pending, stateless?.keys], [2, 0, []]);
    await engine.stop();
    assert.equal(engine.queued, 0);
  });
});

const watch = composer({ op: "deadline", inputs: [input("a")], until: input("b") });

/** An engine on a clock that calls back in the very instant, so that events can still be queued when a timer is due. */
function engineOn(clock: Clock, made: Composer) {
  const fail = (error: unknown) => {
    throw error;
  };
  const timers = createTimerQueue(clock, fail);
  const bus = createBus({ clock, onDropped: () => {}, onError: (_, error) => fail(error) });
  const composed: BusEvent[] = [];
  bus.subscribe({
    name: "consumer",
    kinds: ["composed:*"],
    limit: Infinity,
    handle: (event) => void composed.push(event),
  });
  const engine = createEngine([made], {
    session: "default/main",
    bus,
    timers,
    audit: { emit: () => {}, flush: () => Promise.resolve(), close: () => Promise.resolve() },
    store: null,
  });
  engine.start();
  const publish = (kind: string, at = timers.now()) =>
    bus.publish(busEvent({ id: `${kind}${at}`, kind, payload: {}, chainId: null, at }));
  return { bus, composed, engine, publish, timers };
}

describe("events and timers", () => {
  it("are in the order in which events were emitted and timers due, however late they are handled", async () => {
    const clock = steppedClock();
    const { bus, composed, publish } = engineOn(clock, watch);
    publish("a");
    // Neither the arm nor what disarms it has been handed out when the timer would be due.
    clock.moveTo(9_999);
    publish("b");
    clock.moveTo(20_000);
    await bus.drained();
    assert.equal(composed.length, 0);
  });

  it("a deadline is not disarmed by what was emitted at or after its instant, though the timer runs late", async () => {
    const clock = steppedClock();
    const { bus, composed, publish } = engineOn(clock, watch);
    publish("a", 0);
    publish("b", 10_000);
    await bus.drained();
    assert.equal(composed.length, 1);
  });

  it("an event that was held up on its way counts from when it was emitted", async () => {
    const clock = steppedClock();
    const { bus, composed, publish, engine } = engineOn(clock, { ...watch, correlateBy: "r" });
    clock.moveTo(5_000);
    publish("a", 1_000);
    await bus.drained();
    assert.equal(engine.status()[0]?.next_due, 11_000);
    clock.moveTo(11_000);
    await bus.drained();
    assert.equal(composed.length, 1);
  });

  it("what a timer publishes comes before an event of a later instant, through a chain of composers", async () => {
    const { send, composed, clock } = world([
      composer({ name: "first", op: "window", inputs: [input("a")] }),
      composer({ name: "then", op: "seq", inputs: [input("composed:first"), input("b")] }),
    ]);
    await send("a", { n: 1 });
    await clock.advance(10_000);
    await send("b", { n: 2 });
    assert.deepEqual(composed.map(({ kind }) => kind), ["composed:first", "composed:then"]);
  });

  it("two windows that end at different times fire in the order of their ends", async () => {
    const { publish, composed, clock, bus } = world([
      composer({ name: "long", op: "window", inputs: [input("a")], ttlMs: 3000 }),
      composer({ name: "short", op: "window", inputs: [input("a")], ttlMs: 1000 }),
    ]);
    publish("a", { n: 1 });
    await bus.drained();
    await clock.advance(5000);
    assert.deepEqual(composed.map(({ kind }) => kind), ["composed:short", "composed:long"]);
    assert.deepEqual(composed.map(numbers), [[1], [1]]);
  });

  it("a flood of events that others want does not keep a deadline from firing", async () => {
    const { bus, composed, publish, engine, timers } = engineOn(systemClock, { ...watch, ttlMs: 5 });
    bus.subscribe({ name: "other", kinds: ["other"], limit: Infinity, handle: () => {} });
    publish("a");
    let published = 0;
    while (composed.length === 0 && published < 1_000_000) {
      publish("other", 0);
      published += 1;
      await bus.pace();
    }
    assert.ok(published < 1_000_000, "the deadline waited for the whole flood");
    await bus.drained();
    await engine.stop();
    timers.close();
  });

  it("no further event is taken while thousands of composed ones wait for a slow consumer", async () => {
    const { bus, publish, engine, timers } = engineOn(
      systemClock,
      composer({ op: "any", inputs: [input("a")] }),
    );
    let release = () => {};
    bus.subscribe({
      name: "hooks",
      kinds: ["composed:*"],
      limit: Infinity,
      handle: () => new Promise((resolve) => release = resolve),
    });
    for (let n = 0; n < 6000; n++) publish("a", n);
    const fires = () => engine.status()[0]?.fires ?? 0;
    const until = performance.now() + 10_000;
    while (fires() < 4096 && performance.now() < until) await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setTimeout(resolve, 10));
    assert.ok(fires() >= 4096 && fires() < 5000, `${fires()} were published`);
    while (fires() !== 6000) {
      release();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await engine.stop();
    timers.close();
  });
});
