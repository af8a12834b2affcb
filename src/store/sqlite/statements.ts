import type { DatabaseSync, SQLOutputValue, StatementSync } from "node:sqlite";

const SQL = {
  begin: "BEGIN IMMEDIATE",
  commit: "COMMIT",
  rollback: "ROLLBACK",
  save: "SAVEPOINT entry",
  keep: "RELEASE entry",
  undo: "ROLLBACK TO entry",

  sessionById: "SELECT * FROM session WHERE id = ?",
  sessionHeld: `SELECT key, wal_seq, wal_pos, waking, passive, demoted, bytes FROM session
    WHERE id = ? AND epoch = ? AND owner IS NOT NULL`,
  sessionList: "SELECT * FROM session ORDER BY id",
  sessionPage: "SELECT * FROM session WHERE id > ? ORDER BY id LIMIT ?",
  sessionPageOfNote: `SELECT * FROM session WHERE id > ? AND (waking > 0 OR NOT json_valid(status) OR
      coalesce(json_extract(status, '$.attention'), 1) <> 0) ORDER BY id LIMIT ?`,
  sessionAdd: `INSERT INTO session
      (id, owner, epoch, lease_until, wal_seq, wal_pos, waking, passive, demoted, bytes, created_at, updated_at, status)
    VALUES (?, NULL, 0, 0, 0, 0, 0, 0, 0, 0, ?2, ?2, '{}')`,
  sessionSave:
    `UPDATE session SET wal_seq = ?, wal_pos = ?, waking = ?, passive = ?, demoted = ?, bytes = ?, updated_at = ?
    WHERE key = ?`,
  sessionSaveStatus:
    `UPDATE session SET wal_seq = ?, wal_pos = ?, waking = ?, passive = ?, demoted = ?, bytes = ?, updated_at = ?,
      status = ? WHERE key = ?`,
  sessionOwn: "UPDATE session SET owner = ?, epoch = ?, lease_until = ? WHERE key = ?",
  sessionRenew: "UPDATE session SET lease_until = ? WHERE id = ? AND epoch = ? AND owner IS NOT NULL",
  sessionRelease: "UPDATE session SET owner = NULL, lease_until = 0 WHERE id = ? AND epoch = ?",

  messageAdd: "INSERT INTO message (session, id, at, digest) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
  messageDigest: "SELECT digest FROM message WHERE session = ? AND id = ?",
  messageLast: "SELECT max(seq) AS seq FROM message",
  /** Never the newest: the place of the one after it depends on it. */
  messageOld: `SELECT m.seq, m.id, m.at FROM message AS m
    WHERE m.seq > ?1 AND m.seq < (SELECT max(seq) FROM message)
      AND NOT EXISTS (SELECT 1 FROM inbox AS i WHERE i.session = m.session AND i.seq = m.seq)
    ORDER BY m.seq LIMIT ?2`,
  /** Of the places in a JSON array. */
  messageForget: "DELETE FROM message WHERE seq IN (SELECT value FROM json_each(?))",
  inboxAdd: "INSERT INTO inbox (session, seq, id, kind, wake, bytes, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
  inboxTake: `DELETE FROM inbox
    WHERE session = ?1 AND seq = (SELECT seq FROM message WHERE session = ?1 AND id = ?2) RETURNING wake, bytes`,
  inboxDemote: `UPDATE inbox SET wake = 2
    WHERE session = ?1 AND seq = (SELECT seq FROM message WHERE session = ?1 AND id = ?2) AND wake = 1`,
  inboxDroppable: "SELECT seq, id, bytes FROM inbox WHERE session = ? AND wake = 0 ORDER BY seq",
  inboxDrop: "DELETE FROM inbox WHERE session = ? AND seq = ?",
  inboxTotals: `SELECT count(*) AS sessions, sum(waking) AS waking, sum(passive + demoted) AS passive,
    sum(bytes) AS bytes FROM session`,
  /** When the message came that has waited the longest to start a turn. */
  inboxOldest: `SELECT min(m.at) AS at FROM session AS s JOIN message AS m ON m.seq =
      (SELECT i.seq FROM inbox AS i WHERE i.session = s.key AND i.wake = 1 ORDER BY i.seq LIMIT 1)
    WHERE s.waking > 0`,
  inboxPending: "SELECT seq, id, kind, wake, body FROM inbox WHERE session = ? ORDER BY seq LIMIT ?",

  walAdd: "INSERT INTO wal (session, seq, prev, record) VALUES (?, ?, ?, ?)",
  /** Positions from the record `(pos, seq)` backwards, down to `seq > after`, at most `limit`. */
  walBack: `WITH RECURSIVE back (pos, seq, prev) AS (
      SELECT pos, seq, prev FROM wal WHERE pos = ?1 AND session = ?2 AND seq = ?3
      UNION ALL
      SELECT w.pos, w.seq, w.prev FROM back CROSS JOIN wal AS w ON w.pos = back.prev
      WHERE w.session = ?2 AND w.seq = back.seq - 1 AND w.seq > ?4
      LIMIT ?5
    ) SELECT pos FROM back`,
  walIs: "SELECT 1 FROM wal WHERE pos = ? AND session = ? AND seq = ?",
  walRange: "SELECT seq, record FROM wal WHERE pos BETWEEN ? AND ? AND session = ? ORDER BY pos",
  walAt: "SELECT seq, record FROM wal WHERE pos = ? AND session = ?",
  /** Of the positions in a JSON array. */
  walDelete: "DELETE FROM wal WHERE pos IN (SELECT value FROM json_each(?)) AND session = ?",
  maintenanceOn: "INSERT INTO maintenance (session) VALUES (?)",
  maintenanceOff: "DELETE FROM maintenance WHERE session = ?",

  snapshotSave: `INSERT INTO snapshot (session, upto_seq, pos, body) VALUES (?, ?, ?, ?)
    ON CONFLICT (session) DO UPDATE SET upto_seq = excluded.upto_seq, pos = excluded.pos, body = excluded.body`,
  snapshotGet: `SELECT s.upto_seq, s.body FROM snapshot AS s
    WHERE s.session = (SELECT key FROM session WHERE id = ?)`,
  snapshotPlace: "SELECT upto_seq, pos FROM snapshot WHERE session = ?",
  historyAdd: "INSERT INTO history (session, items) VALUES (?, ?)",
  historyGet: "SELECT n, items FROM history WHERE session = ? AND n > ? ORDER BY n LIMIT ?",

  questionAdd: `INSERT INTO question (id, session, kind, body, asked_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO NOTHING`,
  questionKnown: "SELECT 1 FROM question WHERE id = ?",
  questionCount: "SELECT count(*) AS count FROM question WHERE session = ?",
  questionAnswer: `UPDATE question SET answer = ?2, answered_by = ?3, answered_at = ?4
    WHERE id = ?1 AND answer IS NULL`,
  questionDrop: "DELETE FROM question WHERE id = ?",
  questionsOf: "SELECT * FROM question WHERE session = ? ORDER BY n",
  questionList: "SELECT * FROM question ORDER BY n",
} as const;

export type Statements = Record<keyof typeof SQL, StatementSync>;

export function prepareStatements(db: DatabaseSync): Statements {
  const prepared = Object.entries(SQL).map(([name, sql]) => [name, db.prepare(sql)]);
  return Object.fromEntries(prepared) as Statements;
}

export function asNumber(value: SQLOutputValue | undefined): number {
  if (typeof value === "number") return value;
  throw new TypeError(`a number was expected in the store, not ${value === null ? "null" : typeof value}`);
}

export function asText(value: SQLOutputValue | undefined): string {
  if (typeof value === "string") return value;
  throw new TypeError(`text was expected in the store, not ${value === null ? "null" : typeof value}`);
}
