import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { A, B, bench, consume, type MakeSubject, message, passive, record } from "./conformance_bench.ts";

const DAY = 86_400_000;

/** What any adapter does for those who keep a store small, and watch it. */
export function keepingConforms(name: string, makeSubject: MakeSubject): void {
  describe(`${name}: forgetting ids`, () => {
    const on = bench(makeSubject);
    const put = (id: string) => on.store.put(A, message(id));
    /** A time after everything that is in the store and before what comes after a day has passed. */
    const afterADay = async () => {
      const { updatedAt = 0 } = await on.store.session(A) ?? {};
      await on.advance(DAY);
      return updatedAt + DAY / 2;
    };

    it("forgets ids of consumed messages that came before, and takes them again", async () => {
      const epoch = await on.claimed(A);
      for (const id of ["old", "kept", "waiting"]) await put(id);
      await on.commit(A, epoch, consume("old", "kept"));
      const acceptedBefore = await afterADay();
      await put("new");
      await put("newest");
      await on.commit(A, epoch, consume("new", "newest"));
      const options = { acceptedBefore, keep: (id: string) => id === "kept" };
      assert.equal(await on.store.forget({ ...options, dry: true }), 1);
      assert.equal(await on.store.forget(options), 1);
      assert.equal(await on.store.forget(options), 0);
      await on.reopen();
      for (const id of ["kept", "waiting", "new", "newest"]) {
        assert.equal((await put(id)).status, "duplicate", id);
      }
      assert.equal((await put("old")).status, "stored");
      assert.deepEqual(await on.pendingIds(A), ["waiting", "old"]);
    });

    it("never gives a place in the order twice, though everything was consumed", async () => {
      const epoch = await on.claimed(A);
      for (const id of ["1", "2"]) await put(id);
      const places = (await on.store.pending(A, 9)).map(({ seq }) => seq);
      await on.commit(A, epoch, consume("1", "2"));
      const acceptedBefore = await afterADay();
      await on.store.forget({ acceptedBefore, keep: () => false });
      await put("3");
      const [row] = await on.store.pending(A, 9);
      assert.ok((row?.seq ?? 0) > Math.max(...places));
    });

    it("forgets more than one transaction takes, and dropped messages too", async () => {
      const epoch = await on.claimed(A);
      const ids = Array.from({ length: 2500 }, (_, n) => `m${n}`);
      await Promise.all(ids.map((id) => on.store.put(B, passive(id))));
      await Promise.all(Array.from({ length: 900 }, (_, n) => put(`a${n}`)));
      await on.commit(A, epoch, consume(...Array.from({ length: 900 }, (_, n) => `a${n}`)));
      const acceptedBefore = await afterADay();
      await put("last");
      const { passive: left = 0 } = await on.store.session(B) ?? {};
      assert.ok(left < 2500);
      assert.equal(await on.store.forget({ acceptedBefore, keep: () => false }), 2500 - left + 900);
    });
  });

  describe(`${name}: what a watcher asks`, () => {
    const on = bench(makeSubject);

    it("tells totals over all sessions, and since when the oldest waking message waits", async () => {
      assert.deepEqual(await on.store.totals(), {
        sessions: 0,
        waking: 0,
        passive: 0,
        bytes: 0,
        oldestWakingAt: null,
      });
      await on.store.put(A, passive("p"));
      assert.equal((await on.store.totals()).oldestWakingAt, null);
      await on.store.put(A, message("w"));
      const { updatedAt: before = 0 } = await on.store.session(A) ?? {};
      await on.advance(DAY);
      await on.store.put(B, message("later"));
      const totals = await on.store.totals();
      assert.deepEqual({ ...totals, bytes: 0, oldestWakingAt: 0 }, {
        sessions: 2,
        waking: 2,
        passive: 1,
        bytes: 0,
        oldestWakingAt: 0,
      });
      assert.ok(totals.bytes > 0);
      assert.equal(totals.oldestWakingAt, before);
      const epoch = await on.claimed(A);
      await on.commit(A, epoch, { op: "demote", ids: ["w"] });
      const { waking, passive: resting, oldestWakingAt } = await on.store.totals();
      assert.deepEqual([waking, resting], [1, 2]);
      assert.equal(oldestWakingAt, before + DAY);
    });

    it("counts what could be truncated without doing it", async () => {
      const epoch = await on.claimed(A);
      assert.equal(await on.store.truncatable("default/none"), 0);
      await on.commit(A, epoch, record("1"), record("2"));
      assert.equal(await on.store.truncatable(A), 0);
      await on.commit(A, epoch, { op: "snapshot", body: {}, history: [] }, record("3"));
      assert.equal(await on.store.truncatable(A), 2);
      assert.equal(await on.store.truncate(A), 2);
      assert.equal(await on.store.truncatable(A), 0);
    });
  });
}
