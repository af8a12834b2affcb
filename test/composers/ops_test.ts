import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { composer, input, keyed, numbers, world } from "./support.ts";

const a = [input("a")];
const until = (kind: string, match?: Record<string, string>) => input(kind, match);

describe("all", () => {
  it("fires once every input has come, in the order of arrival", async () => {
    const { composed, send } = world([composer({ op: "all" })]);
    await send("b", { n: 1 });
    assert.equal(composed.length, 0);
    await send("a", { n: 2 });
    assert.deepEqual(composed.map(({ payload }) => payload), [
      { inputs: [{ n: 1 }, { n: 2 }], correlation_key: "__default__" },
    ]);
  });

  it("keeps further events of one input, and begins anew after a fire", async () => {
    const { composed, send } = world([composer({ op: "all" })]);
    for (const [kind, n] of [["a", 1], ["a", 2], ["b", 3], ["b", 4]] as const) await send(kind, { n });
    assert.deepEqual(composed.map(numbers), [[1, 2, 3]]);
    await send("a", { n: 5 });
    assert.deepEqual(numbers(composed[1]), [4, 5]);
  });

  it("fires on a single event that matches both inputs", async () => {
    const { composed, send } = world([composer({ op: "all", inputs: [input("a"), input("a")] })]);
    await send("a", { n: 1 });
    assert.deepEqual(composed.map(numbers), [[1]]);
  });

  it("drops what stayed incomplete for the ttl, in silence, and does not pair it with what comes later", async () => {
    const { composed, send, clock, drops } = world([composer({ op: "all" })]);
    await send("a");
    await clock.advance(9_999);
    assert.deepEqual(drops(), []);
    await clock.advance(1);
    assert.deepEqual(drops(), ["all __default__ ttl_evict"]);
    await send("b");
    assert.equal(composed.length, 0);
  });

  it("counts the ttl from the first event, not from the latest", async () => {
    const { send, clock, drops } = world([composer({ op: "all" })]);
    await send("a");
    await clock.advance(6_000);
    await send("a");
    await clock.advance(4_000);
    assert.deepEqual(drops(), ["all __default__ ttl_evict"]);
  });

  it("never drops the only event of an input to keep to its cap", async () => {
    const { composed, send, drops } = world([composer({ op: "all", maxEventsPerKey: 2 })]);
    for (const [kind, n] of [["a", 1], ["a", 2], ["a", 3], ["b", 4]] as const) await send(kind, { n });
    assert.deepEqual(composed.map(numbers), [[3, 4]]);
    assert.deepEqual(drops(), Array(2).fill("all __default__ per_key_event_cap"));
  });
});

describe("any", () => {
  it("fires on each matching event, once where both inputs match", async () => {
    const { composed, send } = world([composer({ op: "any", inputs: [input("a"), input("a"), input("b")] })]);
    for (const [kind, n] of [["a", 1], ["c", 2], ["b", 3]] as const) await send(kind, { n });
    assert.deepEqual(composed.map(numbers), [[1], [3]]);
  });

  it("takes only what its match takes", async () => {
    const { composed, send, records } = world([
      composer({ op: "any", inputs: [input("a", { server: "x", uri: "file:///docs/*" })] }),
    ]);
    await send("a", { n: 1, server: "y", uri: "file:///docs/b" });
    await send("a", { n: 2, server: "x", uri: "file:///docs/b/c" });
    assert.deepEqual(composed.map(numbers), [[2]]);
    assert.deepEqual(records.map(({ type }) => type), ["composer_fired"]);
  });
});

describe("seq", () => {
  const three = composer({ op: "seq", inputs: [input("a"), input("b"), input("c")] });

  it("does not fire when an event out of order came between, and says that progress was lost", async () => {
    const { composed, send, drops } = world([three]);
    for (const kind of ["a", "c", "b", "c"]) await send(kind);
    assert.equal(composed.length, 0);
    assert.deepEqual(drops(), ["seq __default__ out_of_order"]);
  });

  it("lets the event out of order begin anew", async () => {
    const { composed, send, drops } = world([three]);
    for (const [kind, n] of [["a", 1], ["b", 2], ["a", 3], ["b", 4], ["c", 5]] as const) {
      await send(kind, { n });
    }
    assert.deepEqual(composed.map(numbers), [[3, 4, 5]]);
    assert.deepEqual(drops(), ["seq __default__ out_of_order"]);
  });

  it("overlooks what comes before a first event", async () => {
    const { composed, send } = world([composer({ op: "seq" })]);
    for (const [kind, n] of [["b", 1], ["a", 2], ["b", 3]] as const) await send(kind, { n });
    assert.deepEqual(composed.map(numbers), [[2, 3]]);
  });

  it("takes one kind twice", async () => {
    const { composed, send } = world([composer({ op: "seq", inputs: [input("a"), input("a")] })]);
    for (const n of [1, 2, 3]) await send("a", { n });
    assert.deepEqual(composed.map(numbers), [[1, 2]]);
  });

  it("loses nothing when its first event comes again", async () => {
    const { composed, send, drops } = world([composer({ op: "seq" })]);
    for (const [kind, n] of [["a", 1], ["a", 2], ["b", 3]] as const) await send(kind, { n });
    assert.deepEqual(composed.map(numbers), [[2, 3]]);
    assert.deepEqual(drops(), []);
  });
});

describe("window", () => {
  it("fires with all that came within the ttl of the first event", async () => {
    const { composed, send, clock } = world([composer({ op: "window" })]);
    await send("a", { n: 1 });
    await clock.advance(9_000);
    await send("b", { n: 2 });
    assert.equal(composed.length, 0);
    await clock.advance(1_000);
    assert.deepEqual(composed.map(numbers), [[1, 2]]);
  });

  it("fires in silence, with one event, and only once", async () => {
    const { composed, send, clock } = world([composer({ op: "window", inputs: a })]);
    await send("a", { n: 1 });
    await clock.advance(3_600_000);
    assert.deepEqual(composed.map(numbers), [[1]]);
  });

  it("keeps the newest events where there are too many, with a record of each that goes", async () => {
    const { composed, send, clock, drops } = world([
      composer({ op: "window", inputs: a, maxEventsPerKey: 2 }),
    ]);
    for (const n of [1, 2, 3, 4]) await send("a", { n });
    await clock.advance(10_000);
    assert.deepEqual(composed.map(numbers), [[3, 4]]);
    assert.deepEqual(drops(), Array(2).fill("window __default__ per_key_event_cap"));
  });
});

describe("debounce", () => {
  it("fires once, the ttl after the last event, with that event only", async () => {
    const { composed, send, clock } = world([composer({ op: "debounce", inputs: a })]);
    for (const n of [1, 2, 3, 4, 5]) {
      await send("a", { n });
      await clock.advance(5_000);
    }
    assert.equal(composed.length, 0);
    await clock.advance(5_000);
    assert.deepEqual(composed.map(numbers), [[5]]);
  });

  it("fires every max_wait while events keep coming", async () => {
    const { composed, send, clock } = world([composer({ op: "debounce", inputs: a, maxWaitMs: 30_000 })]);
    for (let n = 1; n <= 20; n++) {
      await send("a", { n });
      await clock.advance(5_000);
    }
    assert.deepEqual(composed.map(numbers), [[6], [12], [18]]);
  });

  it("reports once, without max_wait, that steady events hold it back", async () => {
    const { composed, send, clock, records } = world([composer({ op: "debounce", inputs: a })]);
    for (let n = 1; n <= 40; n++) {
      await send("a", { n });
      await clock.advance(5_000);
    }
    assert.equal(composed.length, 0);
    assert.deepEqual(records.map(({ type, data }) => [type, data["waited_ms"]]), [[
      "composer_held_back",
      100_000,
    ]]);
  });
});

describe("count", () => {
  it("fires on every n-th event, of whatever kind, and counts anew", async () => {
    const { composed, send, engine } = world([composer({ op: "count", count: 2 })]);
    for (const [kind, n] of [["a", 1], ["b", 2], ["a", 3], ["a", 4], ["b", 5]] as const) {
      await send(kind, { n });
    }
    assert.deepEqual(composed.map(numbers), [[1, 2], [3, 4]]);
    assert.equal(engine.status()[0]?.pending, 1);
  });
});

describe("correlate_by", () => {
  it('pairs what has one value of the field, 1 and "1" alike, and says which', async () => {
    const { composed, send } = world([composer({ op: "correlate_by", correlateBy: "r" })]);
    await send("a", { n: 1, r: 1 });
    await send("b", { n: 2, r: "2" });
    await send("b", { n: 3, r: "1" });
    assert.deepEqual(composed.map(({ payload }) => payload["correlation_key"]), ["1"]);
    assert.deepEqual(composed.map(numbers), [[1, 3]]);
  });

  it("puts what lacks the field under one key", async () => {
    const { composed, send } = world([composer({ op: "correlate_by", correlateBy: "r" })]);
    await send("a", { n: 1 });
    await send("b", { n: 2, r: null });
    assert.deepEqual(composed.map(({ payload }) => payload["correlation_key"]), ["__default__"]);
  });

  it("does not fire when the second input comes after the ttl", async () => {
    const { composed, send, clock, drops } = world([composer({ op: "correlate_by", correlateBy: "r" })]);
    await send("a", { r: "x" });
    await clock.advance(10_000);
    await send("b", { r: "x" });
    assert.equal(composed.length, 0);
    assert.deepEqual(drops(), ["correlate_by x ttl_evict"]);
  });

  it("keys any other op too", async () => {
    const { composed, send, clock } = world([
      composer({ op: "count", count: 2, correlateBy: "r" }),
      composer({ op: "window", correlateBy: "r" }),
    ]);
    for (const r of ["x", "y", "x"]) await send("a", { r });
    await clock.advance(10_000);
    assert.deepEqual(composed.map(keyed), [
      "composed:count x",
      "composed:window x",
      "composed:window y",
    ]);
  });

  it("cuts a very long key without making two keys one", async () => {
    const { composed, send } = world([composer({ op: "any", correlateBy: "r" })]);
    await send("a", { r: `${"x".repeat(5000)}1` });
    await send("a", { r: `${"x".repeat(5000)}2` });
    const keys = composed.map(({ payload }) => String(payload["correlation_key"]));
    assert.notEqual(keys[0], keys[1]);
    assert.ok(keys.every((key) => key.length < 256));
  });
});

describe("deadline", () => {
  const watch = composer({ op: "deadline", inputs: a, until: until("b", { ok: "true" }), correlateBy: "r" });

  it("fires in silence when what is awaited does not come, with the arming event and its instant", async () => {
    const { composed, send, clock } = world([watch]);
    await clock.advance(1_500);
    const armed = clock.now();
    await send("a", { r: "x", n: 1 });
    await clock.advance(9_999);
    assert.equal(composed.length, 0);
    await clock.advance(1);
    assert.deepEqual(composed.map(({ payload }) => payload), [{
      inputs: [{ r: "x", n: 1 }],
      correlation_key: "x",
      armed_at: armed / 1000,
      ttl: 10,
      awaited: { kind: "b", match: { ok: "true" } },
    }]);
  });

  it("is disarmed by what is awaited, for its own key only", async () => {
    const { composed, send, clock, records } = world([watch]);
    await send("a", { r: "x" });
    await send("a", { r: "y" });
    await send("b", { r: "x", ok: true });
    await send("b", { r: "y", ok: false });
    await send("b", { r: "z", ok: true });
    await clock.advance(60_000);
    assert.deepEqual(composed.map(({ payload }) => payload["correlation_key"]), ["y"]);
    assert.deepEqual(records.map(({ type }) => type), ["composer_fired"]);
  });

  it("keeps its first clock when it is armed again, and is armed anew after it fired", async () => {
    const { composed, send, clock } = world([watch]);
    await send("a", { n: 1 });
    await clock.advance(6_000);
    await send("a", { n: 2 });
    await clock.advance(4_000);
    assert.deepEqual(composed.map(numbers), [[1]]);
    await send("a", { n: 3 });
    await clock.advance(10_000);
    assert.deepEqual(composed.map(numbers), [[1], [3]]);
  });

  it("never arms on an event that is awaited as well", async () => {
    const { composed, send, clock, engine } = world([
      composer({ op: "deadline", inputs: a, until: until("a") }),
    ]);
    await send("a");
    assert.equal(engine.status()[0]?.pending, 0);
    await clock.advance(60_000);
    assert.equal(composed.length, 0);
  });

  it("fires although what was awaited came, where that was emitted too late", async () => {
    const { composed, clock, bus, publish } = world([watch]);
    publish("a", { n: 1 });
    await bus.drained();
    await clock.advance(10_000);
    publish("b", { ok: true });
    await bus.drained();
    assert.deepEqual(composed.map(numbers), [[1]]);
  });

  it("tells two that differ only in their match apart", async () => {
    const on = (server: string) =>
      composer({
        name: server,
        op: "deadline",
        inputs: [input("a", { server })],
        until: until("b", { server }),
        correlateBy: "r",
      });
    const { composed, send, clock } = world([on("x"), on("y")]);
    for (let r = 0; r < 5; r++) {
      await send("a", { server: "x", r });
      await send("a", { server: "y", r });
      await send("b", { server: r % 2 === 0 ? "x" : "y", r });
    }
    await clock.advance(10_000);
    assert.deepEqual(
      composed.map(keyed).sort(),
      ["composed:x 1", "composed:x 3", "composed:y 0", "composed:y 2", "composed:y 4"],
    );
  });

  it("waits for 720 hours", async () => {
    const { composed, send, clock } = world([composer({ ...watch, ttlMs: 720 * 3_600_000 })]);
    await send("a", { n: 1 });
    await clock.advance(720 * 3_600_000 - 1);
    assert.equal(composed.length, 0);
    await clock.advance(1);
    assert.deepEqual(composed.map(numbers), [[1]]);
  });
});
