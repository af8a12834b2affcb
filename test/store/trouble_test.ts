import assert from "node:assert/strict";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { systemClock } from "../../src/clock/clock.ts";
import type { StoreNotice } from "../../src/store/sqlite/open.ts";
import type { JsonObject, Op } from "../../src/store/store.ts";
import { append, big, claim, filledStore, inTempState, open, SESSION, texts } from "./support.ts";

/** What SQLite throws when fsync fails; one runtime gives the number, the other only the words. */
function ioError(withCode: boolean): Error {
  const error = Object.assign(new Error("disk I/O error"), { code: "ERR_SQLITE_ERROR" });
  return withCode ? Object.assign(error, { errcode: 1034 }) : error;
}

/** What SQLite throws where it could open the file for reading alone. */
function readOnlyError(withCode: boolean): Error {
  const error = Object.assign(new Error("attempt to write a readonly database"), {
    code: "ERR_SQLITE_ERROR",
  });
  return withCode ? Object.assign(error, { errcode: 8 }) : error;
}

/** A kill point that throws once, when armed for its label. */
function fault() {
  let armed: { label: string; error: Error } | undefined;
  return {
    arm: (label: string, error: Error) => {
      armed = { label, error };
    },
    killPoint: (label: string) => {
      if (armed?.label !== label) return;
      const { error } = armed;
      armed = undefined;
      throw error;
    },
  };
}

describe("a store whose disk fails in a commit", () => {
  for (const label of ["store:in_transaction", "store:after_commit"]) {
    for (const withCode of [true, false]) {
      it(`tells that the outcome is unknown, opens the file anew and goes on (${label}, code ${withCode})`, () =>
        inTempState(async (dir) => {
          const { arm, killPoint } = fault();
          const notices: StoreNotice[] = [];
          const store = await open(dir, { killPoint, onNotice: (notice) => notices.push(notice) });
          const epoch = await claim(store);
          const commit = (text: string) => store.commit({ session: SESSION, epoch, ops: [append(text)] });
          await commit("1");
          arm(label, ioError(withCode));
          const failed = await Promise.allSettled([commit("2"), commit("3")]);
          for (const { status, reason } of failed.map((one) => ({ reason: undefined, ...one }))) {
            assert.equal(status, "rejected");
            assert.match(String(reason), /unknown until it is read again/);
          }
          assert.equal((await commit("4")).status, "ok");
          const applied = label === "store:after_commit" ? ["2", "3"] : [];
          assert.deepEqual(await texts(store), ["1", ...applied, "4"]);
          assert.deepEqual(notices, [{ kind: "reopened" }]);
          await store.close();
        }));
    }
  }

  for (const withCode of [true, false]) {
    it(`refuses what it cannot write, tells that once, lets read, and goes on when it can (code ${withCode})`, () =>
      inTempState(async (dir) => {
        const { arm, killPoint } = fault();
        const notices: string[] = [];
        const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + aheadMs };
        let aheadMs = 0;
        const store = await open(dir, { clock, killPoint, onNotice: ({ kind }) => notices.push(kind) });
        const epoch = await claim(store);
        const commit = (text: string) => store.commit({ session: SESSION, epoch, ops: [append(text)] });
        await commit("1");
        for (let time = 0; time < 3; time++) {
          arm("store:in_transaction", readOnlyError(withCode));
          await assert.rejects(commit("lost"), { code: "E_STATE_UNWRITABLE", fix: /write the folder/ });
          // Not even tried, so soon.
          await assert.rejects(commit("lost too"), { code: "E_STATE_UNWRITABLE" });
          assert.deepEqual(await texts(store), ["1"]);
          aheadMs += 1000;
        }
        assert.deepEqual(notices, ["failing"]);
        assert.equal((await commit("2")).status, "ok");
        assert.deepEqual(await texts(store), ["1", "2"]);
        assert.deepEqual(notices, ["failing", "reopened"]);
        await store.close();
      }));
  }

  it("takes no more calls when an acknowledged commit is not there afterwards", () =>
    inTempState(async (dir) => {
      const { arm, killPoint } = fault();
      const store = await open(dir, { killPoint });
      const epoch = await claim(store);
      const commit = (text: string) => store.commit({ session: SESSION, epoch, ops: [append(text)] });
      await commit("1");
      await commit("2");
      arm("store:in_transaction", ioError(true));
      await assert.rejects(commit("3"));
      const db = new DatabaseSync(join(dir, "reyn.db"));
      db.exec("UPDATE session SET wal_seq = 1");
      db.close();
      await assert.rejects(commit("4"), /record 1, 2 was acknowledged/);
      await assert.rejects(texts(store), { code: "E_STATE_CORRUPT" });
      await store.close();
    }));

  it("takes no more calls when an acknowledged message is not there afterwards", () =>
    inTempState(async (dir) => {
      const { arm, killPoint } = fault();
      const store = await open(dir, { killPoint });
      const put = (id: string) => store.put(SESSION, { id, kind: "user", wake: true, body: {} });
      await put("m1");
      arm("store:in_transaction", ioError(true));
      await assert.rejects(put("m2"));
      const db = new DatabaseSync(join(dir, "reyn.db"));
      db.exec("DELETE FROM message");
      db.close();
      await assert.rejects(put("m3"), /acknowledged inbox messages are missing/);
      await store.close();
    }));

  it("does not miss a message that was undone with its commit", () =>
    inTempState(async (dir) => {
      const { arm, killPoint } = fault();
      const store = await open(dir, { killPoint });
      const epoch = await claim(store);
      const message = { id: "m", kind: "user", wake: true, body: {} };
      const undone: Op[] = [{ op: "put", session: SESSION, message }, { op: "consume", ids: ["nothing"] }];
      assert.equal((await store.commit({ session: SESSION, epoch, ops: undone })).status, "duplicate");
      arm("store:in_transaction", ioError(true));
      await assert.rejects(store.commit({ session: SESSION, epoch, ops: [append("1")] }));
      assert.equal((await store.commit({ session: SESSION, epoch, ops: [append("2")] })).status, "ok");
      await store.close();
    }));

  it("does not begin anew in a file that was put in the place of its own", () =>
    inTempState(async (dir) => {
      const { arm, killPoint } = fault();
      const store = await open(dir, { killPoint });
      const epoch = await claim(store);
      const path = join(dir, "reyn.db");
      arm("store:in_transaction", ioError(true));
      await assert.rejects(store.commit({ session: SESSION, epoch, ops: [append("1")] }));
      await filledStore(join(dir, "other"), 3);
      await rename(join(dir, "other", "reyn.db"), path);
      await assert.rejects(
        store.commit({ session: SESSION, epoch, ops: [append("2")] }),
        /removed or replaced/,
      );
      await rm(path);
      await assert.rejects(store.sessions(), /removed or replaced/);
      await store.close();
    }));
});

describe("a store that another process keeps locked", () => {
  it("waits without holding up the event loop, and commits when the lock is gone", () =>
    inTempState(async (dir) => {
      const store = await open(dir);
      const epoch = await claim(store);
      const other = new DatabaseSync(join(dir, "reyn.db"));
      other.exec("BEGIN IMMEDIATE");
      let settled = false;
      const commits = ["1", "2"].map((text) =>
        store.commit({ session: SESSION, epoch, ops: [append(text)] })
      );
      void Promise.all(commits).finally(() => settled = true);
      let turns = 0;
      for (const until = performance.now() + 250; performance.now() < until; turns++) {
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      assert.equal(settled, false);
      assert.ok(turns > 1, `${turns} turns of the event loop`);
      assert.deepEqual(await texts(store), []);
      other.exec("COMMIT");
      other.close();
      assert.deepEqual((await Promise.all(commits)).map(({ status }) => status), ["ok", "ok"]);
      assert.deepEqual(await texts(store), ["1", "2"]);
      await store.close();
    }));

  it("gives up on a call after 30 s and serves later ones", () =>
    inTempState(async (dir) => {
      let skipped = 0;
      const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + skipped };
      const store = await open(dir, { clock });
      const epoch = await claim(store);
      const commit = (text: string) => store.commit({ session: SESSION, epoch, ops: [append(text)] });
      const other = new DatabaseSync(join(dir, "reyn.db"));
      other.exec("BEGIN IMMEDIATE");
      const early = commit("early");
      setTimeout(() => skipped = 31_000, 80);
      await assert.rejects(early, { code: "E_STATE_IO", message: /was locked for 30 s/ });
      const late = commit("late");
      other.exec("COMMIT");
      other.close();
      assert.equal((await late).status, "ok");
      assert.deepEqual(await texts(store), ["late"]);
      await store.close();
    }));
});

describe("a store that is given much at once", () => {
  it("refuses calls beyond its queue and settles all others", () =>
    inTempState(async (dir) => {
      const store = await open(dir);
      const epoch = await claim(store);
      const calls = Array.from({ length: 20_100 }, () => store.release("default/none", epoch));
      const outcomes = await Promise.allSettled(calls);
      assert.equal(outcomes.filter(({ status }) => status === "rejected").length, 100);
      await store.release("default/none", epoch);
      await store.close();
    }));

  it("splits large commits over several transactions, in order", () =>
    inTempState(async (dir) => {
      let transactions = 0;
      const store = await open(dir, {
        killPoint: (label) => {
          if (label === "store:after_commit") transactions++;
        },
      });
      const epoch = await claim(store);
      transactions = 0;
      const sizes = [6, 6, 6, 1, 1].map((mib) => mib * 1024 * 1024);
      const answers = await Promise.all(
        sizes.map((bytes) =>
          store.commit({ session: SESSION, epoch, ops: [{ op: "append", record: big(bytes) }] })
        ),
      );
      assert.deepEqual(answers.map((answer) => answer.status === "ok" && answer.walSeq), [1, 2, 3, 4, 5]);
      assert.equal(transactions, 2);
      const found = await texts(store);
      assert.deepEqual(found.map((text) => text.length), sizes);
      await store.close();
    }));

  it("puts all commits of one turn of the event loop in one transaction", () =>
    inTempState(async (dir) => {
      let transactions = 0;
      const store = await open(dir, {
        killPoint: (label) => {
          if (label === "store:after_commit") transactions++;
        },
      });
      const epoch = await claim(store);
      transactions = 0;
      await Promise.all(Array.from({ length: 64 }, async (_, i) => {
        // As far apart as awaits that wait for nothing put them.
        for (let step = 0; step < i; step++) await Promise.resolve();
        await store.commit({ session: SESSION, epoch, ops: [append(String(i))] });
      }));
      assert.equal(transactions, 1);
      await store.close();
    }));

  it("lets a call that fails fail alone", () =>
    inTempState(async (dir) => {
      const store = await open(dir);
      const epoch = await claim(store);
      const commit = (text: string) => store.commit({ session: SESSION, epoch, ops: [append(text)] });
      const outcomes = await Promise.allSettled([
        commit("1"),
        store.claim("default/b", "test", NaN),
        commit("2"),
      ]);
      assert.deepEqual(outcomes.map(({ status }) => status), ["fulfilled", "rejected", "fulfilled"]);
      assert.deepEqual(await texts(store), ["1", "2"]);
      assert.equal(await store.session("default/b"), undefined);
      await store.close();
    }));

  it("throws at once on what is not JSON", () =>
    inTempState(async (dir) => {
      const store = await open(dir);
      const epoch = await claim(store);
      const record: JsonObject = {};
      record.self = record;
      await assert.rejects(
        store.commit({ session: SESSION, epoch, ops: [{ op: "append", record }] }),
        TypeError,
      );
      assert.deepEqual(await texts(store), []);
      await store.close();
    }));
});
