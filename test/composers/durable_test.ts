import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { composer, input, memoryStore, numbers, world } from "./support.ts";

const watch = composer({
  op: "deadline",
  inputs: [input("a")],
  until: input("b"),
  correlateBy: "r",
  capacity: 20_000,
  durable: true,
});

/** Publishes and waits until it is saved, then forgets the process. */
async function armed(keys: number, made = watch) {
  const store = memoryStore();
  const before = world([made], { store });
  for (let r = 0; r < keys; r++) before.publish("a", { r: `k${r}`, n: r });
  await before.engine.settled();
  return { store, before, armedAt: before.clock.now() };
}

describe("what is durable", () => {
  it("is saved before an arm counts as taken, and arms that come together share one save", async () => {
    const { store } = await armed(256);
    assert.equal(store.records().length, 256);
    assert.equal(store.saves, 1);
  });

  it("fires at start, once, with its own instant, when the ttl went by while nothing ran", async () => {
    const { store, before, armedAt } = await armed(3);
    await before.clock.advance(0);
    const { clock } = before;
    // The process is gone: nobody moves its timers any more.
    before.timers.close();
    await clock.advance(25_000);
    const after = world([watch], { clock, store, restored: store.records() });
    await after.bus.drained();
    assert.deepEqual(after.composed.map(({ id, payload }) => [id, payload["armed_at"]]), [
      ["deadline@e1", armedAt / 1000],
      ["deadline@e2", armedAt / 1000],
      ["deadline@e3", armedAt / 1000],
    ]);
  });

  it("fires when it was due when it is restarted before", async () => {
    const { store, before } = await armed(1);
    const { clock } = before;
    before.timers.close();
    await clock.advance(4_000);
    const after = world([watch], { clock, store, restored: store.records() });
    await clock.advance(5_999);
    assert.equal(after.composed.length, 0);
    await clock.advance(1);
    assert.equal(after.composed.length, 1);
  });

  it("is disarmed for good by what was awaited", async () => {
    const { store, before } = await armed(2);
    before.publish("b", { r: "k0" });
    await before.engine.settled();
    assert.deepEqual(store.records().map(({ key }) => key), ["k1"]);
  });

  it("is kept until the hooks on its event have settled, and is published again until then", async () => {
    const { store, before } = await armed(1);
    const { clock } = before;
    await clock.advance(10_000);
    assert.equal(before.composed.length, 1);
    await before.engine.settled();
    assert.deepEqual(store.records().map(({ t }) => t), ["fired"]);
    before.timers.close();

    const after = world([watch], { clock, store, restored: store.records() });
    await after.bus.drained();
    assert.deepEqual(after.composed.map(({ id, payload }) => ({ id, payload })), [
      { id: before.composed[0]?.id, payload: before.composed[0]?.payload },
    ]);
    after.engine.settle("deadline@e1");
    after.engine.settle("of another");
    await after.engine.settled();
    assert.deepEqual(store.records(), []);
  });

  it("survives in ten thousand keys", async () => {
    const { store, before } = await armed(10_000);
    before.timers.close();
    const after = world([watch], { clock: before.clock, store, restored: store.records() });
    assert.equal(after.engine.status()[0]?.pending, 10_000);
    await before.clock.advance(10_000);
    await after.bus.drained();
    assert.equal(after.composed.length, 10_000);
  });

  it("is given up, with a record, where its composer is no longer declared or has another op", async () => {
    const { store, before, armedAt } = await armed(1);
    const reasons = async (made = composer({ op: "any", name: "other" })) => {
      const again = memoryStore();
      await again.save(
        store.records().map((record) => ({
          id: JSON.stringify(["pending", "deadline", record.key]),
          record,
        })),
      );
      const after = world([made], { clock: before.clock, store: again, restored: again.records() });
      await after.engine.settled();
      assert.deepEqual(again.records(), []);
      assert.deepEqual(after.records.map(({ type }) => type), ["composer_dropped", "composer_deadline_lost"]);
      assert.equal(after.records[1]?.data["armed_at"], armedAt / 1000);
      return after.drops();
    };
    assert.deepEqual(await reasons(), ["deadline k0 composer_removed"]);
    assert.deepEqual(await reasons({ ...watch, durable: false }), ["deadline k0 composer_removed"]);
    assert.deepEqual(await reasons(composer({ op: "count", count: 3, name: "deadline", durable: true })), [
      "deadline k0 composer_changed",
    ]);
  });

  it("is given up for good, as an error, where there is no room for it any more", async () => {
    for (
      const [fields, reason] of [
        [{ capacity: 1, overflow: "reject" }, "capacity_reject"],
        [{ capacity: 1, overflow: "drop_newest" }, "capacity_drop_newest"],
        [{ capacity: 1 }, "capacity_drop_oldest"],
        [{ maxBytes: 10, overflow: "reject" }, "byte_cap"],
      ] as const
    ) {
      const { store, before } = await armed(3);
      before.timers.close();
      const made = { ...watch, ...fields };
      const after = world([made], { clock: before.clock, store, restored: store.records() });
      await after.engine.settled();
      const left = reason === "byte_cap" ? 0 : 1;
      assert.equal(after.drops().filter((drop) => drop.endsWith(reason)).length, 3 - left);
      const lost = after.records.filter(({ type }) => type === "composer_deadline_lost");
      assert.equal(lost.length, 3 - left);
      assert.equal(store.records().length, left);
      assert.equal(after.engine.status()[0]?.pending, left);
    }
  });

  it("needs only the inputs that are left when one was removed from the declaration", async () => {
    const three = composer({ op: "all", inputs: [input("a"), input("b"), input("c")], durable: true });
    const store = memoryStore();
    const before = world([three], { store });
    before.publish("a", { n: 1 });
    before.publish("c", { n: 2 });
    await before.engine.settled();
    const after = world([composer({ op: "all", inputs: [input("a"), input("b")], durable: true })], {
      clock: before.clock,
      store,
      restored: store.records(),
    });
    assert.deepEqual(after.drops(), ["all __default__ composer_changed"]);
    await after.send("b", { n: 3 });
    assert.deepEqual(after.composed.map(numbers), [[1, 3]]);
  });

  it("goes on where it was in every op", async () => {
    const store = memoryStore();
    const made = [
      composer({ op: "seq", durable: true }),
      composer({ op: "count", count: 3, durable: true }),
      composer({ op: "debounce", inputs: [input("a")], maxWaitMs: 12_000, durable: true }),
    ];
    const before = world(made, { store });
    before.publish("a", { n: 1 });
    await before.engine.settled();
    await before.clock.advance(4_000);
    before.publish("a", { n: 2 });
    await before.engine.settled();
    const { clock } = before;
    before.timers.close();
    const after = world(made, { clock, store, restored: store.records() });
    await after.send("b", { n: 3 });
    assert.deepEqual(after.composed.map(numbers), [[2, 3], [1, 2, 3]]);
    await clock.advance(7_999);
    assert.equal(after.composed.length, 2);
    await clock.advance(1);
    assert.deepEqual(numbers(after.composed[2]), [2]);
  });

  it("does not take an instant in the future for one, where the wall clock was set back", async () => {
    const { store } = await armed(1);
    const late = store.records().map((record) =>
      record.t === "pending" ? { ...record, created_at: record.created_at + 3_600_000 } : record
    );
    const after = world([watch], { store, restored: late });
    await after.clock.advance(10_000);
    assert.equal(after.composed.length, 1);
  });

  it("tells whoever waits that it could not be saved", async () => {
    const failing = { save: () => Promise.reject(new Error("disk full")) };
    const { publish, engine } = world([watch], { store: failing });
    publish("a");
    await assert.rejects(async () => await engine.settled(), /disk full/);
    assert.equal(engine.settled(), null);
  });
});

describe("the end of a run", () => {
  it("drops what is not durable with a record, and keeps what is", async () => {
    const store = memoryStore();
    const { publish, engine, drops, timers } = world([watch, composer({ op: "all", correlateBy: "r" })], {
      store,
    });
    publish("a", { r: "x" });
    assert.equal(engine.settled() === null, false);
    assert.equal(engine.volatile, 1);
    await engine.stop();
    assert.deepEqual(drops(), ["all x session_closed"]);
    assert.equal(store.records().length, 1);
    assert.equal(timers.armed, 0);
  });

  it("takes what is still queued first", async () => {
    const { publish, engine, composed, bus } = world([
      composer({ op: "count", count: 100, inputs: [input("a")] }),
    ]);
    for (let n = 0; n < 100; n++) publish("a");
    await engine.stop();
    await bus.close();
    assert.equal(composed.length, 1);
  });
});
