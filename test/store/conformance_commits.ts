import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject, Op } from "../../src/store/store.ts";
import {
  A,
  B,
  bench,
  collect,
  consume,
  LEASE_MS,
  type MakeSubject,
  message,
  record,
} from "./conformance_bench.ts";

/** Ownership and commits, as any adapter keeps them. */
export function commitsConform(name: string, makeSubject: MakeSubject): void {
  describe(`${name}: ownership`, () => {
    const on = bench(makeSubject);

    it("gives a new session to who asks first, with epoch 1", async () => {
      assert.deepEqual(await on.store.claim(A, "one", LEASE_MS), {
        status: "claimed",
        epoch: 1,
        created: true,
      });
    });

    it("refuses another owner while the lease runs, and says who holds it", async () => {
      await on.claimed(A, "one");
      const answer = await on.store.claim(A, "two", LEASE_MS);
      assert.equal(answer.status, "held");
      assert.equal(answer.status === "held" && answer.owner, "one");
      assert.equal((await on.store.session(A))?.owner, "one");
      assert.equal((await on.store.session(A))?.epoch, 1);
    });

    it("lets the same owner claim again with the next epoch", async () => {
      await on.claimed(A, "one");
      assert.deepEqual(await on.store.claim(A, "one", LEASE_MS), {
        status: "claimed",
        epoch: 2,
        created: false,
      });
    });

    it("lets another owner in when the lease has run out", async () => {
      await on.store.claim(A, "one", 200);
      await on.advance(300);
      assert.deepEqual(await on.store.claim(A, "two", LEASE_MS), {
        status: "claimed",
        epoch: 2,
        created: false,
      });
    });

    it("lets another owner in after a release", async () => {
      const epoch = await on.claimed(A, "one");
      await on.store.release(A, epoch);
      assert.equal((await on.store.session(A))?.owner, null);
      assert.equal((await on.store.claim(A, "two", LEASE_MS)).status, "claimed");
    });

    it("passes over a release with an epoch that is no longer current", async () => {
      const old = await on.claimed(A, "one");
      await on.claimed(A, "one");
      await on.store.release(A, old);
      assert.equal((await on.store.claim(A, "two", LEASE_MS)).status, "held");
    });

    it("gives one session to one of many who ask at once", async () => {
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, i) => on.store.claim(A, `o${i}`, LEASE_MS)),
      );
      assert.equal(answers.filter(({ status }) => status === "claimed").length, 1);
    });

    it("counts a session that only ever got messages as new to its first owner", async () => {
      await on.store.put(A, message("m"));
      assert.deepEqual(await on.store.claim(A, "one", LEASE_MS), {
        status: "claimed",
        epoch: 1,
        created: true,
      });
    });

    it("renews exactly the holdings that still stand", async () => {
      const a = await on.claimed(A, "one");
      const b = await on.claimed(B, "one");
      await on.claimed(B, "one");
      const standing = await on.store.renew(
        [{ session: A, epoch: a }, { session: B, epoch: b }, { session: "default/none", epoch: 1 }],
        LEASE_MS,
      );
      assert.deepEqual(standing, [{ session: A, epoch: a }]);
    });

    it("extends the lease by renewing", async () => {
      const claim = await on.store.claim(A, "one", 400);
      assert.equal(claim.status, "claimed");
      await on.store.renew([{ session: A, epoch: 1 }], LEASE_MS);
      await on.advance(600);
      assert.equal((await on.store.claim(A, "two", LEASE_MS)).status, "held");
    });

    it("renews a lease that ran out while nobody took the session, and none that was released", async () => {
      await on.store.claim(A, "one", 100);
      const b = await on.claimed(B, "one");
      await on.store.release(B, b);
      await on.advance(200);
      const standing = await on.store.renew([{ session: A, epoch: 1 }, { session: B, epoch: b }], LEASE_MS);
      assert.deepEqual(standing, [{ session: A, epoch: 1 }]);
      assert.equal((await on.store.claim(A, "two", LEASE_MS)).status, "held");
    });
  });

  describe(`${name}: commits`, () => {
    const on = bench(makeSubject);

    it("numbers the records of a session 1, 2, 3 …, whatever else is written meanwhile", async () => {
      const a = await on.claimed(A);
      const b = await on.claimed(B);
      for (let i = 1; i <= 5; i++) {
        const [mine] = await Promise.all([
          on.commit(A, a, record(`a${i}`)),
          on.commit(B, b, record("b"), record("b")),
        ]);
        assert.deepEqual(mine, { status: "ok", walSeq: i, puts: [] });
      }
      assert.deepEqual(
        await on.records(A),
        [1, 2, 3, 4, 5].map((seq) => ({ seq, record: { text: `a${seq}` } })),
      );
      assert.deepEqual((await on.records(B)).map(({ seq }) => seq), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    });

    it("fences a commit of an older epoch and stores nothing of it", async () => {
      const old = await on.claimed(A);
      const now = await on.claimed(A);
      const late = await on.commit(A, old, record("late"), { op: "put", session: B, message: message("m") });
      assert.deepEqual(late, { status: "fenced" });
      assert.deepEqual(await on.records(A), []);
      assert.deepEqual(await on.store.pending(B, 10), []);
      assert.equal((await on.commit(A, now, record("in time"))).status, "ok");
    });

    it("fences commits to a session that is unknown, never claimed, or released", async () => {
      assert.deepEqual(await on.commit(A, 1, record("x")), { status: "fenced" });
      await on.store.put(B, message("m"));
      assert.deepEqual(await on.commit(B, 0, record("x")), { status: "fenced" });
      const epoch = await on.claimed(A);
      await on.store.release(A, epoch);
      assert.deepEqual(await on.commit(A, epoch, record("x")), { status: "fenced" });
    });

    it("consumes a message once: the second time is a duplicate that applies nothing", async () => {
      const epoch = await on.claimed(A);
      await on.store.put(A, message("m1"));
      await on.store.put(A, message("m2"));
      assert.equal((await on.commit(A, epoch, consume("m1"), record("turn 1"))).status, "ok");
      const again = await on.commit(
        A,
        epoch,
        record("turn 1 again"),
        { op: "put", session: B, message: message("to b") },
        { op: "status", status: { state: "changed" } },
        { op: "snapshot", body: { at: 2 }, history: [{ n: 1 }] },
        { op: "demote", ids: ["m2"] },
        consume("m2", "m1"),
      );
      assert.deepEqual(again, { status: "duplicate" });
      assert.deepEqual((await on.records(A)).map((row) => row.record.text), ["turn 1"]);
      assert.deepEqual((await on.store.pending(A, 10)).map(({ id, wake }) => [id, wake]), [["m2", true]]);
      assert.deepEqual(await on.store.pending(B, 10), []);
      assert.equal(await on.store.snapshot(A), undefined);
      assert.deepEqual(await collect(on.store.history(A)), []);
      const row = await on.store.session(A);
      assert.deepEqual([row?.walSeq, row?.waking, row?.passive, row?.status], [1, 1, 0, {}]);
    });

    it("takes consuming what was never there, or twice in one commit, for a duplicate", async () => {
      const epoch = await on.claimed(A);
      await on.store.put(A, message("m1"));
      assert.equal((await on.commit(A, epoch, consume("nothing"))).status, "duplicate");
      assert.equal((await on.commit(A, epoch, consume("m1", "m1"))).status, "duplicate");
      assert.deepEqual(await on.pendingIds(A), ["m1"]);
    });

    it("lets a fenced and a duplicate commit fail alone among those made at the same instant", async () => {
      const old = await on.claimed(A);
      const a = await on.claimed(A);
      const b = await on.claimed(B);
      const answers = await Promise.all([
        on.commit(A, a, record("1")),
        on.commit(A, old, record("fenced")),
        on.commit(B, b, record("1")),
        on.commit(B, b, record("half"), consume("nothing")),
        on.commit(A, a, record("2")),
        on.commit(B, b, record("2")),
      ]);
      assert.deepEqual(answers.map(({ status }) => status), ["ok", "fenced", "ok", "duplicate", "ok", "ok"]);
      for (const session of [A, B]) {
        assert.deepEqual((await on.records(session)).map((row) => row.record.text), ["1", "2"]);
      }
    });

    it("keeps status with the row, and answers the last record for a commit without one", async () => {
      const epoch = await on.claimed(A);
      await on.commit(A, epoch, record("1"));
      assert.deepEqual(await on.commit(A, epoch, { op: "status", status: { state: "idle", n: 1 } }), {
        status: "ok",
        walSeq: 1,
        puts: [],
      });
      assert.deepEqual(await on.commit(A, epoch), { status: "ok", walSeq: 1, puts: [] });
      assert.deepEqual((await on.store.session(A))?.status, { state: "idle", n: 1 });
    });

    it("stores what a commit held when it was made, not what the caller turns it into afterwards", async () => {
      const epoch = await on.claimed(A);
      const body: JsonObject = { text: "then" };
      const done = on.commit(A, epoch, { op: "append", record: body });
      body.text = "now";
      await done;
      assert.deepEqual((await on.records(A)).map((row) => row.record.text), ["then"]);
    });

    it("puts to other sessions within a commit, making those that do not exist", async () => {
      const epoch = await on.claimed(A);
      const put = (session: string, id: string): Op => ({ op: "put", session, message: message(id) });
      assert.deepEqual(await on.commit(A, epoch, put(B, "m1"), put(A, "m2"), put(B, "m1"), record("x")), {
        status: "ok",
        walSeq: 1,
        puts: [{ status: "stored", dropped: [] }, { status: "stored", dropped: [] }, { status: "duplicate" }],
      });
      assert.deepEqual([await on.pendingIds(A), await on.pendingIds(B)], [["m2"], ["m1"]]);
      assert.deepEqual((await on.store.sessions()).map(({ id, epoch }) => [id, epoch]), [[A, 1], [B, 0]]);
    });

    it("keeps many sessions' commits apart when they all commit at once", async () => {
      const sessions = Array.from({ length: 40 }, (_, i) => `default/s${i}`);
      await Promise.all(sessions.map(async (session, n) => {
        const epoch = await on.claimed(session);
        for (let turn = 0; turn < 5; turn++) {
          await on.store.put(session, message(`m${turn}`));
          const next = sessions[(n + 1) % sessions.length] ?? session;
          const outgoing: Op = {
            op: "put",
            session: next,
            message: { ...message(`${n}-${turn}`), wake: false },
          };
          const answer = await on.commit(
            session,
            epoch,
            consume(`m${turn}`),
            record(`${n}/${turn}`),
            outgoing,
          );
          assert.equal(answer.status, "ok");
        }
      }));
      for (const [n, session] of sessions.entries()) {
        assert.deepEqual(
          (await on.records(session)).map((row) => row.record.text),
          [0, 1, 2, 3, 4].map((t) => `${n}/${t}`),
        );
        const from = (n + sessions.length - 1) % sessions.length;
        assert.deepEqual(await on.pendingIds(session), [0, 1, 2, 3, 4].map((turn) => `${from}-${turn}`));
      }
    });
  });
}
