import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Overflow } from "../../src/composers/composer.ts";
import { busEvent } from "../../src/bus/event.ts";
import { composer, input, numbers, world } from "./support.ts";

const watch = composer({
  op: "deadline",
  inputs: [input("a")],
  until: input("b"),
  correlateBy: "r",
  capacity: 1,
});

describe("the bytes that a composer keeps", () => {
  const text = (n: number) => ({ text: "x".repeat(n) });
  const fields = { op: "count", inputs: [input("a")], count: 3, correlateBy: "id", maxBytes: 1000 } as const;

  it("are kept to by dropping the oldest keys for a new event", async () => {
    const { send, drops, engine } = world([composer(fields)]);
    await send("a", { id: 1, ...text(400) });
    await send("a", { id: 2, ...text(400) });
    assert.deepEqual(drops(), []);
    await send("a", { id: 3, ...text(800) });
    assert.deepEqual(drops(), ["count 1 byte_cap", "count 2 byte_cap"]);
    assert.equal(engine.status()[0]?.pending, 1);
  });

  it("are kept to within one key by dropping its oldest events", async () => {
    const { send, drops, composed } = world([
      composer({ op: "window", inputs: [input("a")], maxBytes: 1000 }),
    ]);
    for (const n of [1, 2, 3]) await send("a", { n, ...text(400) });
    assert.deepEqual(drops(), ["window __default__ byte_cap"]);
    assert.equal(composed.length, 0);
  });

  it("are kept to by giving up a key in which each event is needed", async () => {
    const three = [input("a"), input("b"), input("c")];
    for (const op of ["all", "seq"] as const) {
      const { send, drops, engine } = world([composer({ op, inputs: three, maxBytes: 1000 })]);
      await send("a", text(600));
      await send("b", text(600));
      assert.deepEqual(drops(), [`${op} __default__ byte_cap`]);
      assert.equal(engine.status()[0]?.pending, 0);
    }
  });

  it("are kept to by refusing the new event where that is the policy", async () => {
    for (const overflow of ["drop_newest", "reject"] as const) {
      const { send, drops, engine } = world([composer({ ...fields, overflow })]);
      await send("a", { id: 1, ...text(600) });
      await send("a", { id: 2, ...text(600) });
      assert.deepEqual(drops(), ["count 2 byte_cap"]);
      assert.equal(engine.status()[0]?.pending, 1);
    }
  });

  it("report an armed deadline that has to go, and never keep one from being disarmed", async () => {
    const { send, drops, records, engine } = world([
      composer({
        op: "deadline",
        inputs: [input("a")],
        until: input("b"),
        correlateBy: "id",
        maxBytes: 1000,
      }),
    ]);
    await send("a", { id: 1, ...text(600) });
    await send("a", { id: 2, ...text(600) });
    assert.deepEqual(drops(), ["deadline 1 byte_cap"]);
    assert.equal(records.filter(({ type }) => type === "composer_deadline_lost").length, 1);
    await send("b", { id: 2, ...text(5000) });
    assert.equal(engine.status()[0]?.pending, 0);
    assert.equal(drops().length, 1);
  });

  it("are free again after a fire, a drop and a disarm", async () => {
    const { send, drops, composed, clock } = world([composer({ ...fields, correlateBy: null })]);
    for (let n = 0; n < 30; n++) await send("a", text(250));
    assert.equal(composed.length, 10);
    await send("a", text(800));
    await clock.advance(10_000);
    await send("a", text(800));
    assert.deepEqual(drops(), ["count __default__ ttl_evict"]);
  });

  it("bound one event in every op, and so what composers make of each other's events", async () => {
    const one = world([composer({ op: "any", inputs: [input("a")], maxBytes: 1000 })]);
    await one.send("a", text(2000));
    assert.deepEqual(one.drops(), ["any __default__ byte_cap"]);
    const doubling = Array.from({ length: 30 }, (_, at) =>
      composer({
        op: "any",
        name: `c${at}`,
        inputs: [input(at === 0 ? "a" : `composed:c${at - 1}`, {}, "whole")],
        maxBytes: 100_000,
      }));
    const { send, composed, drops } = world(doubling);
    await send("a", text(100));
    assert.match(String(drops()[0]), /^c\d+ __default__ byte_cap$/);
    assert.ok(JSON.stringify(composed.at(-1)?.payload).length < 300_000);
  });

  it("are told of an event about as large as its JSON", () => {
    const payload = {
      text: "x".repeat(100),
      n: 1.5,
      list: [{ a: "b" }, null, true],
      deep: { er: { list: [1] } },
    };
    const { size } = busEvent({ id: "e", kind: "a", payload, chainId: null, at: 0 });
    const real = JSON.stringify(payload).length;
    assert.ok(size >= real && size < 2 * real, `${size} for ${real}`);
  });
});

describe("limits of a composer", () => {
  const full = async (overflow: Overflow) => {
    const made = composer({ op: "correlate_by", correlateBy: "r", capacity: 1, overflow });
    const one = world([made]);
    for (const [kind, r] of [["a", "x"], ["a", "y"], ["b", "x"], ["b", "y"]] as const) {
      await one.send(kind, { r });
    }
    return {
      fires: one.composed.map(({ payload }) => payload["correlation_key"]),
      drops: one.drops(),
    };
  };

  it("drops the oldest key for a new one", async () => {
    assert.deepEqual(await full("drop_oldest"), {
      fires: [],
      drops: [
        "correlate_by x capacity_drop_oldest",
        "correlate_by y capacity_drop_oldest",
        "correlate_by x capacity_drop_oldest",
      ],
    });
  });

  it("keeps what it has and refuses the new key, by either name", async () => {
    for (const overflow of ["drop_newest", "reject"] as const) {
      const reason = overflow === "reject" ? "capacity_reject" : "capacity_drop_newest";
      assert.deepEqual(await full(overflow), { fires: ["x"], drops: [`correlate_by y ${reason}`] });
    }
  });

  it("reports an armed deadline that is evicted as an error", async () => {
    const { send, records, clock } = world([watch]);
    const armed = clock.now() / 1000;
    await send("a", { r: "x" });
    await send("a", { r: "y" });
    assert.deepEqual(records.map(({ type, data }) => ({ type, ...data })), [
      {
        type: "composer_dropped",
        composer: "deadline",
        correlation_key: "x",
        reason: "capacity_drop_oldest",
      },
      {
        type: "composer_deadline_lost",
        composer: "deadline",
        correlation_key: "x",
        armed_at: armed,
        reason: "capacity_drop_oldest",
      },
    ]);
  });

  it("records many drops one by one, then only how many more there were", async () => {
    const made = composer({ op: "correlate_by", correlateBy: "r", capacity: 1, overflow: "reject" });
    const { publish, bus, clock, drops, engine } = world([made]);
    for (let r = 0; r <= 1000; r++) publish("a", { r });
    await bus.drained();
    assert.equal(drops().length, 100);
    await clock.advance(1000);
    assert.equal(drops().at(-1), "correlate_by 1000 capacity_reject x900");
    assert.equal(engine.status()[0]?.drops.capacity_reject, 1000);
  });

  it("throws away what is pending for the key of an unless", async () => {
    const made = composer({ op: "all", correlateBy: "r", unless: [input("stop", { ok: "true" })] });
    const { send, composed, drops } = world([made]);
    await send("a", { r: "x" });
    await send("a", { r: "y" });
    await send("stop", { r: "x", ok: true });
    await send("stop", { r: "y", ok: false });
    await send("b", { r: "x" });
    await send("b", { r: "y" });
    assert.deepEqual(composed.map(({ payload }) => payload["correlation_key"]), ["y"]);
    assert.deepEqual(drops(), ["all x cancelled"]);
  });

  it("fires no more often than its rate, and records an episode once", async () => {
    const made = composer({ op: "any", rateLimit: { count: 2, perMs: 60_000 } });
    const { send, composed, drops, clock } = world([made]);
    for (const n of [1, 2, 3, 4, 5]) await send("a", { n });
    assert.deepEqual(composed.map(numbers), [[1], [2]]);
    assert.deepEqual(drops(), ["any __default__ rate_limited"]);
    await clock.advance(30_000);
    assert.deepEqual(drops(), ["any __default__ rate_limited", "any __default__ rate_limited x2"]);
    await send("a", { n: 6 });
    assert.deepEqual(composed.map(numbers), [[1], [2], [6]]);
  });

  it("leaves records without anything of a payload", async () => {
    const { send, records, clock, composed } = world([
      composer({ op: "any" }),
      composer({ op: "all" }),
      composer({ op: "window", maxEventsPerKey: 1 }),
    ]);
    await send("a", { secret: "hunter2" });
    await send("a", { secret: "hunter2" });
    await clock.advance(60_000);
    assert.equal(composed.length, 3);
    assert.ok(records.length >= 5);
    assert.doesNotMatch(JSON.stringify(records), /hunter2|secret/);
  });
});

describe("what a composer publishes", () => {
  it("names inputs that have a name", async () => {
    const inputs = [input("a", {}, "approval"), input("b", {}, "__proto__"), input("c")];
    const { send, composed } = world([composer({ op: "all", inputs })]);
    for (const [kind, n] of [["b", 1], ["a", 2], ["a", 3], ["c", 4]] as const) await send(kind, { n });
    assert.deepEqual(
      Object.entries(composed[0]?.payload["by_name"] ?? {}),
      [["__proto__", { n: 1 }], ["approval", { n: 3 }]],
    );
  });

  it("is an event that cannot be changed, known by its cause, in the chain of its cause", async () => {
    const { send, composed } = world([composer({ op: "any", name: "one" })]);
    await send("a", { n: 1 }, "e7");
    await send("a", { n: 1 }, "e7");
    const [event, again] = composed;
    assert.equal(event?.id, "one@e7");
    assert.equal(again?.id, "one@e7");
    assert.ok(
      Object.isFrozen(event) && Object.isFrozen(event.payload) && Object.isFrozen(event.payload["inputs"]),
    );
    assert.equal(event.source, "builtin");
  });

  it("is taken by composers that have it as an input, also two that emit one kind", async () => {
    const { send, composed, records } = world([
      composer({ name: "last", op: "count", count: 2, inputs: [input("composed:mid")] }),
      composer({ name: "one", op: "any", emit: "composed:mid", inputs: [input("a")] }),
      composer({ name: "two", op: "any", emit: "composed:mid", inputs: [input("a")] }),
    ]);
    await send("a");
    assert.deepEqual(composed.map(({ id }) => id), ["one@e1", "two@e1", "last@two@e1"]);
    assert.deepEqual(records.map(({ data }) => data["composer"]), ["one", "two", "last"]);
  });

  it("is also taken when it was published by another than a composer", async () => {
    const { send, composed } = world([
      composer({ name: "last", op: "any", inputs: [input("composed:mid")] }),
    ]);
    await send("composed:mid", { inputs: [] });
    assert.deepEqual(composed.map(({ kind }) => kind), ["composed:mid", "composed:last"]);
  });

  it("is followed no further than a bound, with a record", async () => {
    const chain = Array.from(
      { length: 40 },
      (_, n) => composer({ name: `c${n}`, op: "any", inputs: [input(n === 0 ? "a" : `composed:c${n - 1}`)] }),
    );
    const { send, composed, drops } = world(chain);
    await send("a");
    assert.equal(composed.length, 33);
    assert.deepEqual(drops(), ["c33 __default__ chain_limit"]);
  });

  it("leaves no record where nothing matches", async () => {
    const { send, records } = world([composer({ op: "all" })]);
    await send("other");
    assert.deepEqual(records, []);
  });
});
