import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject, Op } from "../../src/store/store.ts";
import {
  A,
  B,
  bench,
  collect,
  consume,
  type MakeSubject,
  message,
  passive,
  record,
} from "./conformance_bench.ts";

/** What any adapter gives back. */
export function readingConforms(name: string, makeSubject: MakeSubject): void {
  describe(`${name}: snapshots, history, records`, () => {
    const on = bench(makeSubject);

    it("has neither at first", async () => {
      assert.equal(await on.store.snapshot(A), undefined);
      assert.deepEqual(await collect(on.store.history(A)), []);
      assert.deepEqual(await on.records(A), []);
      assert.equal(await on.store.truncate(A), 0);
      assert.equal(await on.store.session(A), undefined);
    });

    it("keeps the newest snapshot, as of the last record before it, and all history in order", async () => {
      const epoch = await on.claimed(A);
      const snapshot = (n: number, ...history: JsonObject[]): Op => ({
        op: "snapshot",
        body: { n },
        history,
      });
      await on.commit(A, epoch, record("1"), record("2"), snapshot(1, { h: 1 }, { h: 2 }));
      assert.deepEqual(await on.store.snapshot(A), { uptoSeq: 2, body: { n: 1 } });
      await on.commit(A, epoch, record("3"), snapshot(2), record("4"));
      await on.commit(A, epoch, snapshot(3, { h: 3 }));
      assert.deepEqual(await on.store.snapshot(A), { uptoSeq: 4, body: { n: 3 } });
      assert.deepEqual(await collect(on.store.history(A)), [{ h: 1 }, { h: 2 }, { h: 3 }]);
    });

    it("gives records after a number only", async () => {
      const epoch = await on.claimed(A);
      await on.commit(A, epoch, record("1"), record("2"), record("3"));
      assert.deepEqual((await on.records(A, 1)).map(({ seq }) => seq), [2, 3]);
      assert.deepEqual(await on.records(A, 3), []);
      assert.deepEqual(await on.records(A, 9), []);
    });

    it("removes records up to the snapshot and numbers on", async () => {
      const epoch = await on.claimed(A);
      const b = await on.claimed(B);
      await on.commit(A, epoch, record("1"), record("2"));
      await on.commit(B, b, record("b1"));
      assert.equal(await on.store.truncate(A), 0);
      await on.commit(A, epoch, { op: "snapshot", body: { n: 1 }, history: [] }, record("3"));
      assert.equal(await on.store.truncate(A), 2);
      assert.equal(await on.store.truncate(A), 0);
      assert.deepEqual((await on.records(A)).map(({ seq }) => seq), [3]);
      assert.deepEqual(await on.records(B), [{ seq: 1, record: { text: "b1" } }]);
      assert.deepEqual(await on.commit(A, epoch, record("4")), { status: "ok", walSeq: 4, puts: [] });
      assert.deepEqual((await on.records(A, 2)).map(({ seq }) => seq), [3, 4]);
    });

    it("numbers on when everything was removed, also for sessions that write in turn", async () => {
      const a = await on.claimed(A);
      const b = await on.claimed(B);
      for (let round = 0; round < 3; round++) {
        for (const [session, epoch] of [[A, a], [B, b]] as const) {
          await on.commit(session, epoch, record("x"), record("y"), {
            op: "snapshot",
            body: { round },
            history: [],
          });
          await on.store.truncate(session);
        }
      }
      assert.deepEqual([await on.records(A), await on.records(B)], [[], []]);
      await on.commit(B, b, record("b"));
      await on.commit(A, a, record("a"));
      assert.deepEqual([(await on.records(A))[0]?.seq, (await on.records(B))[0]?.seq], [7, 7]);
      assert.equal((await on.records(A)).length, 1);
    });

    it("streams more records and history than fit in one batch, with other sessions' in between", async () => {
      const count = 9000;
      const a = await on.claimed(A);
      const b = await on.claimed(B);
      for (let n = 0; n < count; n += 500) {
        const ops = Array.from({ length: 500 }, (_, i): Op => ({ op: "append", record: { n: n + i + 1 } }));
        await Promise.all([on.commit(A, a, ...ops), on.commit(B, b, ...ops)]);
      }
      const history = Array.from({ length: count }, (_, i): JsonObject => ({ n: i, text: "x".repeat(100) }));
      await on.commit(A, a, { op: "snapshot", body: {}, history });
      for (const after of [0, 1, 4000, 8999]) {
        const found = await on.records(A, after);
        assert.equal(found.length, count - after);
        assert.ok(found.every(({ seq, record }, i) => seq === after + i + 1 && record.n === seq));
      }
      assert.deepEqual(await collect(on.store.history(A)), history);
      assert.equal(await on.store.truncate(A), count);
      assert.deepEqual(await on.records(A), []);
      assert.equal((await on.records(B)).length, count);
    });

    it("holds what was there when reading began, whatever is appended meanwhile", async () => {
      const epoch = await on.claimed(A);
      await on.commit(A, epoch, record("1"), record("2"));
      const seen: number[] = [];
      for await (const batch of on.store.records(A, 0)) {
        seen.push(...batch.map(({ seq }) => seq));
        await on.commit(A, epoch, record("more"));
      }
      assert.deepEqual(seen, [1, 2]);
    });
  });

  describe(`${name}: values and rows`, () => {
    const on = bench(makeSubject);

    it("brings odd strings back equal, as values, keys, ids, kinds and owners", async () => {
      const odd = [
        "\ud800",
        "a\udc00b",
        "\0",
        "a\0b",
        "\ufffd",
        "\uf8ff0000",
        "\u{1f600}",
        "'\"\\",
        "\u2028",
        "e\u0301",
        "",
      ];
      const body = Object.fromEntries(odd.map((text, i) => [`${text}${i}`, text]));
      const session = "default/\ud800";
      const epoch = await on.claimed(session, "owner\udfff");
      for (const id of odd) {
        assert.deepEqual(await on.store.put(session, { id, kind: id, wake: true, body }), {
          status: "stored",
          dropped: [],
        });
      }
      await on.reopen();
      const pending = await on.store.pending(session, 100);
      assert.deepEqual(pending.map(({ id }) => id), odd);
      assert.deepEqual(pending.map(({ kind }) => kind), odd);
      assert.ok(pending.every((row) => JSON.stringify(row.body) === JSON.stringify(body)));
      assert.equal(
        (await on.commit(session, epoch, consume(...odd), { op: "append", record: body })).status,
        "ok",
      );
      assert.deepEqual((await on.records(session))[0]?.record, body);
      assert.equal((await on.store.session(session))?.owner, "owner\udfff");
      assert.deepEqual((await on.store.sessions()).map(({ id }) => id), [session]);
    });

    it("keeps a key named __proto__ and numbers to their last digit", async () => {
      const epoch = await on.claimed(A);
      const text = '{"__proto__":{"x":1},"n":0.1,"big":9007199254740991,"neg":-1e-7}';
      await on.commit(A, epoch, { op: "append", record: JSON.parse(text) });
      assert.equal(JSON.stringify((await on.records(A))[0]?.record), text);
    });

    it("holds bodies of 10 MiB", async () => {
      const epoch = await on.claimed(A);
      const body = { text: "x".repeat(10 * 1024 * 1024) };
      assert.equal((await on.store.put(A, { ...message("m"), body })).status, "stored");
      assert.equal((await on.commit(A, epoch, consume("m"), { op: "append", record: body })).status, "ok");
      await on.reopen();
      assert.deepEqual((await on.records(A))[0]?.record, body);
    });

    it("lists sessions in order of id, with counts and times", async () => {
      for (const id of ["default/b", "a/x", "default/a"]) await on.claimed(id);
      await on.store.put(A, message("m1"));
      await on.store.put(A, passive("p1"));
      const rows = await on.store.sessions();
      assert.deepEqual(rows.map(({ id }) => id), ["a/x", "default/a", "default/b"]);
      assert.deepEqual(rows[1], await on.store.session(A));
      assert.deepEqual([rows[1]?.waking, rows[1]?.passive, rows[1]?.walSeq], [1, 1, 0]);
      assert.ok(rows.every(({ createdAt, updatedAt }) => createdAt > 0 && updatedAt >= createdAt));
    });

    it("lists sessions a page at a time, none twice and none left out", async () => {
      const ids = Array.from({ length: 7 }, (_, index) => `default/s${index}`);
      for (const id of ids) await on.claimed(id);
      const seen: string[] = [];
      for (let after = "";;) {
        const rows = await on.store.sessions({ after, limit: 3 });
        assert.ok(rows.length <= 3);
        seen.push(...rows.map(({ id }) => id));
        const last = rows.at(-1);
        if (!last) break;
        after = last.id;
      }
      assert.deepEqual(seen, ids);
    });

    it("leaves out of a page what needs no attention, unless a waking message is there", async () => {
      for (
        const [id, status] of [["a/calm", { attention: false }], ["a/old", {}], ["a/open", {
          attention: true,
        }]] as const
      ) {
        const epoch = await on.claimed(id);
        await on.commit(id, epoch, { op: "status", status });
      }
      const ofNote = async () =>
        (await on.store.sessions({ after: "", limit: 9, ofNote: true })).map(({ id }) => id);
      assert.deepEqual(await ofNote(), ["a/old", "a/open"]);
      await on.store.put("a/calm", passive("p1"));
      assert.deepEqual(await ofNote(), ["a/old", "a/open"]);
      await on.store.put("a/calm", message("m1"));
      assert.deepEqual(await ofNote(), ["a/calm", "a/old", "a/open"]);
    });

    it("has everything again after it was closed and opened", async () => {
      const epoch = await on.claimed(A);
      await on.store.put(A, message("m1"));
      await on.store.put(A, message("m2"));
      await on.commit(A, epoch, consume("m1"), record("1"), {
        op: "snapshot",
        body: { n: 1 },
        history: [{ h: 1 }],
      });
      await on.commit(A, epoch, record("2"), { op: "status", status: { state: "idle" } });
      const before = await on.store.session(A);
      await on.reopen();
      assert.deepEqual(await on.store.session(A), before);
      assert.deepEqual(await on.pendingIds(A), ["m2"]);
      assert.deepEqual(await on.store.snapshot(A), { uptoSeq: 1, body: { n: 1 } });
      assert.deepEqual(await collect(on.store.history(A)), [{ h: 1 }]);
      assert.deepEqual((await on.records(A, 1)).map((row) => row.record.text), ["2"]);
      assert.equal((await on.commit(A, epoch, record("3"))).status, "ok");
    });

    it("finishes what was handed in before it closes, and refuses what comes after", async () => {
      const epoch = await on.claimed(A);
      const last = on.commit(A, epoch, record("last"));
      await Promise.all([on.store.close(), on.store.close()]);
      assert.equal((await last).status, "ok");
      await assert.rejects(on.commit(A, epoch, record("too late")));
      await assert.rejects(on.store.pending(A, 1));
      await on.reopen();
      assert.deepEqual((await on.records(A)).map((row) => row.record.text), ["last"]);
    });
  });
}
