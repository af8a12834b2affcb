import type { DatabaseSync } from "node:sqlite";

/** "reyn" as four bytes: what `file` and other tools read as the owner of the database. */
export const APPLICATION_ID = 0x7265796e;

/** Tables without which a file that says it is ours is not. */
export const TABLES = [
  "session",
  "message",
  "inbox",
  "wal",
  "snapshot",
  "history",
  "maintenance",
  "question",
] as const;

/**
 * One entry a version, in order, never edited once released. `user_version` is the number of entries applied.
 *
 * `wal` is a heap in order of arrival: `prev` is the position of the same session's record before, `session.wal_pos`
 * the newest. An index by session would write one more page for every session of a batch, and the bytes written
 * are what a busy disk runs out of; a session is read seldom and then whole.
 *
 * `message` keeps the id of every accepted message (`at`: when; `digest`: of what it says, where its sender has chosen the id)
 * until it is forgotten, `inbox` only what is unconsumed (`wake`: 0 passive, 1 waking, 2 waking made passive). Consuming is one
 * deleted row. Both are heaps in order of arrival for the same reason, and ids come first in the index of `message`: most rise
 * with time, so that those of a batch fall on few pages, whatever their sessions.
 *
 * `question` holds what a person is to answer, by the text id of the session that asks, until it is settled.
 *
 * Deletion of records passes the trigger only while `maintenance` has a row, which `truncate` adds and removes within
 * its transaction, and only up to the snapshot.
 */
export const MIGRATIONS: readonly (string | ((nowMs: number) => string))[] = [
  `
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
  `,
  `
  CREATE TABLE question (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    session TEXT NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    asked_at INTEGER NOT NULL,
    answer TEXT,
    answered_by TEXT,
    answered_at INTEGER
  ) STRICT;
  CREATE INDEX question_session ON question (session);
  `,
  // When older messages came is not known: their time begins now. A default costs no row a write.
  (nowMs) => `ALTER TABLE message ADD COLUMN at INTEGER NOT NULL DEFAULT ${Math.floor(nowMs)}`,
  `
  CREATE TABLE message_anew (
    seq INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    id TEXT NOT NULL,
    at INTEGER NOT NULL,
    UNIQUE (id, session)
  ) STRICT;
  INSERT INTO message_anew (seq, session, id, at) SELECT seq, session, id, at FROM message ORDER BY seq;
  DROP TABLE message;
  ALTER TABLE message_anew RENAME TO message;

  CREATE TABLE inbox_anew (
    seq INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    wake INTEGER NOT NULL CHECK (wake IN (0, 1, 2)),
    bytes INTEGER NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  INSERT INTO inbox_anew (seq, session, id, kind, wake, bytes, body)
    SELECT seq, session, id, kind, wake, bytes, body FROM inbox ORDER BY seq;
  DROP TABLE inbox;
  ALTER TABLE inbox_anew RENAME TO inbox;
  CREATE INDEX inbox_session ON inbox (session);
  `,
  "ALTER TABLE message ADD COLUMN digest INTEGER",
];

export const SCHEMA_VERSION = MIGRATIONS.length;

export function pragmaNumber(db: DatabaseSync, name: "application_id" | "user_version"): number {
  const value = db.prepare(`PRAGMA ${name}`).get()?.[name];
  return typeof value === "number" ? value : 0;
}

/** Brings the database to `SCHEMA_VERSION` in one transaction. Throws what SQLite throws; then nothing has changed. */
export function migrate(
  db: DatabaseSync,
  { nowMs, beforeCommit = () => {} }: { nowMs: number; beforeCommit?: () => void },
): void {
  if (pragmaNumber(db, "user_version") === SCHEMA_VERSION) return;
  db.exec("BEGIN IMMEDIATE");
  try {
    // Another process may have done it while we waited for the lock.
    for (const step of MIGRATIONS.slice(pragmaNumber(db, "user_version"))) {
      db.exec(typeof step === "string" ? step : step(nowMs));
    }
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}`);
    beforeCommit();
    db.exec("COMMIT");
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}
