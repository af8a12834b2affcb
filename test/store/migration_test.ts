import assert from "node:assert/strict";
import { mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { SCHEMA_VERSION } from "../../src/store/sqlite/schema.ts";
import type { StoreNotice } from "../../src/store/sqlite/open.ts";
import { claim, filesIn, inTempState, open, openFails, SESSION, texts } from "./support.ts";

/** As the first version of the schema was made. */
const VERSION_1 = `
  CREATE TABLE session (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    owner TEXT,
    epoch INTEGER NOT NULL,
    lease_until INTEGER NOT NULL,
    wal_seq INTEGER NOT NULL,
    wal_pos INTEGER NOT NULL,
    waking INTEGER NOT NULL,
    passive INTEGER NOT NULL,
    demoted INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    status TEXT NOT NULL
  ) STRICT;

  CREATE TABLE message (
    seq INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    id TEXT NOT NULL,
    UNIQUE (session, id)
  ) STRICT;

  CREATE TABLE inbox (
    session INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    wake INTEGER NOT NULL CHECK (wake IN (0, 1, 2)),
    bytes INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (session, seq)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE wal (
    pos INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    prev INTEGER NOT NULL,
    record TEXT NOT NULL
  ) STRICT;

  CREATE TABLE snapshot (
    session INTEGER PRIMARY KEY,
    upto_seq INTEGER NOT NULL,
    pos INTEGER NOT NULL,
    body TEXT NOT NULL
  ) STRICT;

  CREATE TABLE history (
    n INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    items TEXT NOT NULL
  ) STRICT;
  CREATE INDEX history_session ON history (session);

  CREATE TABLE maintenance (session INTEGER PRIMARY KEY) STRICT;

  CREATE TRIGGER wal_no_update BEFORE UPDATE ON wal BEGIN
    SELECT RAISE(ABORT, 'wal is append-only');
  END;
  CREATE TRIGGER wal_no_delete BEFORE DELETE ON wal
  WHEN NOT EXISTS (SELECT 1 FROM maintenance WHERE session = OLD.session)
    OR NOT EXISTS (SELECT 1 FROM snapshot WHERE session = OLD.session AND upto_seq >= OLD.seq)
  BEGIN
    SELECT RAISE(ABORT, 'wal is append-only');
  END;
`;

/** What reyn wrote with that schema: a session with three records, a snapshot, a consumed message and a waiting one. */
const CONTENT = `
  INSERT INTO session VALUES (1, 'default/a', NULL, 1, 0, 3, 3, 1, 0, 0, 14, 1000, 2000, '{"turns":1}');
  INSERT INTO message VALUES (1, 1, 'consumed'), (2, 1, 'waiting');
  INSERT INTO inbox VALUES (1, 2, 'waiting', 'user', 1, 14, '{"text":"hello"}');
  INSERT INTO wal VALUES (1, 1, 1, 0, '{"text":"1"}'), (2, 1, 2, 1, '{"text":"2"}'), (3, 1, 3, 2, '{"text":"3"}');
  INSERT INTO snapshot VALUES (1, 2, 2, '{"n":1}');
  INSERT INTO history (session, items) VALUES (1, '[{"h":1}]');
`;

async function writeVersion1(dir: string): Promise<string> {
  await mkdir(dir, { recursive: true });
  const path = join(dir, "reyn.db");
  const db = new DatabaseSync(path);
  db.exec("PRAGMA journal_mode = WAL");
  db.exec(
    `BEGIN; ${VERSION_1} ${CONTENT} PRAGMA application_id = 0x7265796e; PRAGMA user_version = 1; COMMIT`,
  );
  db.close();
  return path;
}

function versionOf(path: string): unknown {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    return db.prepare("PRAGMA user_version").get()?.user_version;
  } finally {
    db.close();
  }
}

const copies = async (dir: string) => (await filesIn(dir)).filter((name) => name.includes(".version-"));

describe("a store of an older version", () => {
  it("is brought up to date with everything in it", () =>
    inTempState(async (dir) => {
      const path = await writeVersion1(dir);
      const before = Date.now();
      const store = await open(dir);
      assert.deepEqual(await texts(store), ["1", "2", "3"]);
      assert.deepEqual(await store.snapshot(SESSION), { uptoSeq: 2, body: { n: 1 } });
      assert.deepEqual((await store.pending(SESSION, 9)).map(({ id, body }) => [id, body]), [
        ["waiting", { text: "hello" }],
      ]);
      const put = (id: string) => store.put(SESSION, { id, kind: "user", wake: true, body: {} });
      assert.equal((await put("consumed")).status, "duplicate");
      assert.equal((await put("new")).status, "stored");
      const { oldestWakingAt } = await store.totals();
      assert.ok(
        (oldestWakingAt ?? 0) >= Math.floor(before),
        "an id of unknown age is as old as the migration",
      );
      await claim(store);
      await store.close();
      assert.equal(versionOf(path), SCHEMA_VERSION);
      await (await open(dir)).close();
      assert.equal((await copies(dir)).length, 1, "the second start migrates nothing");
    }));

  it("is kept as it was in a copy of its own, and the operator is told where", () =>
    inTempState(async (dir) => {
      await writeVersion1(dir);
      const notices: StoreNotice[] = [];
      await (await open(dir, { onNotice: (notice) => notices.push(notice) })).close();
      const [name = ""] = await copies(dir);
      const path = join(dir, name);
      assert.deepEqual(notices, [{ kind: "migrated", path, from: 1, to: SCHEMA_VERSION }]);
      assert.equal(versionOf(path), 1);
      assert.equal(((await stat(path)).mode & 0o777).toString(8), "600");
      const db = new DatabaseSync(path, { readOnly: true });
      assert.deepEqual(db.prepare("SELECT id FROM message ORDER BY seq").all().map(({ id }) => id), [
        "consumed",
        "waiting",
      ]);
      db.close();
    }));

  for (const label of ["store:in_copy", "store:before_copy_named", "store:in_migration"]) {
    it(`is as it was, and migrated by the next start, when the first ends at ${label}`, () =>
      inTempState(async (dir) => {
        const path = await writeVersion1(dir);
        await assert.rejects(open(dir, {
          killPoint(at) {
            if (at === label) throw new Error("stop here");
          },
        }));
        assert.equal(versionOf(path), 1);
        const store = await open(dir);
        assert.deepEqual(await texts(store), ["1", "2", "3"]);
        await store.close();
        assert.equal(versionOf(path), SCHEMA_VERSION);
        assert.deepEqual((await readdir(dir)).filter((name) => name.endsWith(".partial")), []);
      }));
  }

  it("is neither changed nor read by a listing", () =>
    inTempState(async (dir) => {
      const path = await writeVersion1(dir);
      const { error } = await openFails(dir, "E_STATE_IO", { readOnly: true });
      assert.match(error.message, /older/);
      assert.equal(versionOf(path), 1);
      assert.deepEqual(await copies(dir), []);
    }));

  it("is not migrated when it cannot be copied first", () =>
    inTempState(async (dir) => {
      const path = await writeVersion1(dir);
      // The name of the copy is taken, with its partial name a folder that is not empty.
      const at = Date.UTC(2026, 0, 2, 3, 4, 5);
      const clock = { now: () => at, monotonic: () => 0, after: () => () => {} };
      await mkdir(`${path}.version-1-20260102T030405Z.partial`);
      await writeFile(join(`${path}.version-1-20260102T030405Z.partial`, "x"), "");
      const { error } = await openFails(dir, "E_STATE_IO", { clock });
      assert.match(error.message, /before it is brought up to date/);
      assert.equal(versionOf(path), 1);
    }));
});
