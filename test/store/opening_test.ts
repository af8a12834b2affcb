import assert from "node:assert/strict";
import { chmod, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import type { Op } from "../../src/store/store.ts";
import type { StoreNotice } from "../../src/store/sqlite/open.ts";
import {
  append,
  claim,
  filesIn,
  filledStore,
  inTempState,
  numbers,
  open,
  openFails,
  SESSION,
  texts,
} from "./support.ts";

const mode = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

describe("opening a store", () => {
  it("makes the folder 0700 and its files 0600, whatever the umask", () =>
    inTempState(async (dir) => {
      const before = process.umask(0);
      try {
        const store = await open(dir);
        await store.put(SESSION, { id: "m", kind: "user", wake: true, body: {} });
        assert.deepEqual(await filesIn(dir), ["reyn.db", "reyn.db-shm", "reyn.db-wal"]);
        assert.equal(await mode(dir), "700");
        for (const file of await filesIn(dir)) assert.equal(await mode(join(dir, file)), "600");
        await store.close();
      } finally {
        process.umask(before);
      }
    }));

  it("leaves one file behind when it is closed", () =>
    inTempState(async (dir) => {
      await filledStore(dir, 3);
      assert.deepEqual(await filesIn(dir), ["reyn.db"]);
    }));

  it("narrows the mode of a database that others could read", () =>
    inTempState(async (dir) => {
      await filledStore(dir, 1);
      await chmod(join(dir, "reyn.db"), 0o644);
      await (await open(dir)).close();
      assert.equal(await mode(join(dir, "reyn.db")), "600");
    }));

  it("refuses a folder that is not absolute", () => assert.rejects(open("state"), /absolute/));

  it("takes an empty file for a store that was never written to", () =>
    inTempState(async (dir) => {
      await mkdir(dir, { recursive: true });
      await writeFile(join(dir, "reyn.db"), "");
      const store = await open(dir);
      assert.deepEqual(await store.sessions(), []);
      await claim(store);
      await store.close();
    }));

  it("takes up a store that was killed in the middle of being made", () =>
    inTempState(async (dir) => {
      await assert.rejects(open(dir, {
        killPoint(label) {
          if (label === "store:in_migration") throw new Error("stop here");
        },
      }));
      const store = await open(dir);
      await claim(store);
      await store.close();
    }));

  it("says where the state cannot be used at all", () =>
    inTempState(async (dir) => {
      await mkdir(dirname(dir), { recursive: true });
      await writeFile(dir, "a file");
      const { error } = await openFails(dir, "E_STATE_IO");
      assert.ok(error.message.includes(dir), error.message);
    }));

  it("refuses a store of a newer reyn and touches nothing", () =>
    inTempState(async (dir) => {
      await filledStore(dir, 2);
      const path = join(dir, "reyn.db");
      const db = new DatabaseSync(path);
      db.exec("PRAGMA user_version = 99");
      db.close();
      const before = await readFile(path);
      const { error } = await openFails(dir, "E_STATE_NEWER");
      assert.match(error.message, /version 99/);
      assert.deepEqual(await readFile(path), before);
      await openFails(dir, "E_STATE_NEWER", { readOnly: true });
      assert.deepEqual((await filesIn(dir)).filter((name) => name.includes("damaged")), []);
    }));

  it("brings a store of an older reyn up to date, with all that it holds, once it is opened for writing", () =>
    inTempState(async (dir) => {
      await filledStore(dir, 2);
      const db = new DatabaseSync(join(dir, "reyn.db"));
      db.exec(
        `DROP TABLE question; ALTER TABLE message DROP COLUMN at; ALTER TABLE message DROP COLUMN digest;
        PRAGMA user_version = 1`,
      );
      db.close();
      await openFails(dir, "E_STATE_IO", { readOnly: true });
      const store = await open(dir);
      assert.deepEqual(await texts(store), ["1", "2"]);
      assert.equal(await store.ask(SESSION, { id: "q", kind: "consent", body: {} }), "stored");
      await store.close();
      const read = await open(dir, { readOnly: true });
      assert.deepEqual((await read.questions()).map(({ id }) => id), ["q"]);
      await read.close();
    }));

  it("says nothing when all is well", () =>
    inTempState(async (dir) => {
      const notices: StoreNotice[] = [];
      await filledStore(dir, 1);
      await (await open(dir, { onNotice: (notice) => notices.push(notice) })).close();
      assert.deepEqual(notices, []);
    }));
});

describe("opening a store for reading", () => {
  it("answers an empty store where there is none, and makes nothing", () =>
    inTempState(async (dir) => {
      const store = await open(dir, { readOnly: true });
      assert.deepEqual(await store.sessions(), []);
      assert.equal(await store.session(SESSION), undefined);
      assert.equal(await store.snapshot(SESSION), undefined);
      assert.deepEqual(await store.pending(SESSION, 1), []);
      assert.deepEqual(await texts(store), []);
      await store.close();
      await assert.rejects(stat(dir));
    }));

  it("reads what another connection has committed, while that goes on writing", () =>
    inTempState(async (dir) => {
      const writer = await open(dir);
      const epoch = await claim(writer);
      await writer.commit({ session: SESSION, epoch, ops: [append("1")] });
      const reader = await open(dir, { readOnly: true });
      assert.deepEqual(await texts(reader), ["1"]);
      await writer.commit({ session: SESSION, epoch, ops: [append("2")] });
      assert.deepEqual(await texts(reader), ["1", "2"]);
      await reader.close();
      await writer.commit({ session: SESSION, epoch, ops: [append("3")] });
      await writer.close();
    }));

  it("reads a store that nobody has open", () =>
    inTempState(async (dir) => {
      await filledStore(dir, 2);
      const reader = await open(dir, { readOnly: true });
      assert.deepEqual(await texts(reader), ["1", "2"]);
      await reader.close();
      const writer = await open(dir);
      assert.deepEqual(await texts(writer), ["1", "2"]);
      await writer.close();
    }));

  it("refuses to write", () =>
    inTempState(async (dir) => {
      await filledStore(dir, 1);
      for (const at of [dir, join(dir, "none")]) {
        const store = await open(at, { readOnly: true });
        await assert.rejects(store.claim(SESSION, "test", 1), /reading only/);
        await assert.rejects(
          store.commit({ session: SESSION, epoch: 1, ops: [append("x")] }),
          /reading only/,
        );
        await store.close();
      }
    }));
});

describe("the log of a store", () => {
  it("is removed to the end by the next truncation when one was cut short", () =>
    inTempState(async (dir) => {
      const count = 2500;
      let store = await open(dir, {
        killPoint(label) {
          if (label === "store:in_truncate") throw new Error("killed");
        },
      });
      const epoch = await claim(store);
      const ops: Op[] = Array.from({ length: count }, (_, i) => append(String(i + 1)));
      await store.commit({
        session: SESSION,
        epoch,
        ops: [...ops, { op: "snapshot", body: {}, history: [] }],
      });
      await assert.rejects(store.truncate(SESSION), /killed/);
      await store.close();
      store = await open(dir);
      const left = await texts(store);
      assert.ok(left.length > 0 && left.length < count, String(left.length));
      assert.deepEqual(left, numbers(count).slice(-left.length));
      assert.equal(await store.truncate(SESSION), left.length);
      await store.close();
      const db = new DatabaseSync(join(dir, "reyn.db"));
      assert.equal(db.prepare("SELECT count(*) AS n FROM wal").get()?.n, 0);
      db.close();
    }));

  it("takes no update, and no deletion but the snapshot's", () =>
    inTempState(async (dir) => {
      const store = await open(dir);
      const epoch = await claim(store);
      const snapshot = { op: "snapshot", body: {}, history: [] } as const;
      await store.commit({ session: SESSION, epoch, ops: [append("1"), snapshot, append("2")] });
      await store.close();
      const db = new DatabaseSync(join(dir, "reyn.db"));
      assert.throws(() => db.exec("UPDATE wal SET record = '{}'"), /append-only/);
      assert.throws(() => db.exec("DELETE FROM wal"), /append-only/);
      db.exec("INSERT INTO maintenance SELECT key FROM session");
      assert.throws(() => db.exec("DELETE FROM wal WHERE seq = 2"), /append-only/);
      db.exec("DELETE FROM wal WHERE seq = 1");
      db.close();
    }));
});
