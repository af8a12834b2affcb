import { copyFile, mkdtemp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync, type SQLOutputValue } from "node:sqlite";

export interface StoredMessage {
  id: string;
  role: string;
  text: string;
  turn: number;
}

/** A record of the WAL, as far as the checks look at it. */
export interface StoredRecord {
  t: string;
  turn?: number;
  of?: number;
  kind?: string;
  valve?: string;
  step?: number;
  status?: string;
  retry?: boolean;
  about?: number;
  messages?: StoredMessage[];
}

export interface StoredSession {
  id: string;
  walSeq: number;
  waking: number;
  passive: number;
  bytes: number;
  records: { seq: number; record: StoredRecord }[];
  /** Ids of all messages ever accepted. */
  accepted: string[];
  inbox: { id: string; kind: string; wake: number; bytes: number; text: string }[];
  snapshot: { uptoSeq: number; body: Record<string, unknown> } | undefined;
  /** What snapshots keep of the conversation. */
  kept: StoredMessage[];
}

export interface Stored {
  integrity: string;
  sessions: StoredSession[];
}

type Row = Record<string, SQLOutputValue>;

/**
 * Reads the store without the product's help, from a copy, so that looking changes nothing and recovers nothing for it.
 * No process may be running on the folder. Undefined where there is no database yet. `only` reads one session alone.
 */
export async function readStored(stateDir: string, only?: string): Promise<Stored | undefined> {
  const files = (await readdir(stateDir).catch(() => [])).filter((name) =>
    /^reyn\.db(-wal|-journal)?$/.test(name)
  );
  if (!files.includes("reyn.db")) return undefined;
  const copy = await mkdtemp(join(stateDir, "..", "..", "..", "copy-"));
  try {
    for (const name of files) await copyFile(join(stateDir, name), join(copy, name));
    const db = new DatabaseSync(join(copy, "reyn.db"));
    try {
      return readAll(db, only);
    } finally {
      db.close();
    }
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

function readAll(db: DatabaseSync, only: string | undefined): Stored {
  const integrity = String(db.prepare("PRAGMA integrity_check").get()?.integrity_check);
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  if (tables.length === 0) return { integrity, sessions: [] };
  const of = (sql: string, key: number): Row[] => db.prepare(sql).all(key);
  const rows = db.prepare("SELECT * FROM session ORDER BY id").all();
  const sessions = rows.filter(({ id }) => only === undefined || id === only).map((row): StoredSession => {
    const key = Number(row.key);
    const [snapshot] = of("SELECT * FROM snapshot WHERE session = ?", key);
    return {
      id: String(row.id),
      walSeq: Number(row.wal_seq),
      waking: Number(row.waking),
      passive: Number(row.passive) + Number(row.demoted),
      bytes: Number(row.bytes),
      records: of("SELECT seq, record FROM wal WHERE session = ? ORDER BY pos", key).map((one) => ({
        seq: Number(one.seq),
        record: JSON.parse(String(one.record)) as StoredRecord,
      })),
      accepted: of("SELECT id FROM message WHERE session = ? ORDER BY seq", key).map((one) => String(one.id)),
      inbox: of("SELECT * FROM inbox WHERE session = ? ORDER BY seq", key).map((one) => ({
        id: String(one.id),
        kind: String(one.kind),
        wake: Number(one.wake),
        bytes: Number(one.bytes),
        text: textIn(String(one.body)),
      })),
      snapshot: snapshot && {
        uptoSeq: Number(snapshot.upto_seq),
        body: JSON.parse(String(snapshot.body)) as Record<string, unknown>,
      },
      kept: of("SELECT items FROM history WHERE session = ? ORDER BY n", key).flatMap((one) =>
        JSON.parse(String(one.items)) as StoredMessage[]
      ),
    };
  });
  return { integrity, sessions };
}

function textIn(body: string): string {
  const text = (JSON.parse(body) as Record<string, unknown>)["text"];
  return typeof text === "string" ? text : "";
}
