import { Buffer } from "node:buffer";
import { closeSync, openSync, readSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { ReynError } from "../../errors/reyn_error.ts";
import { isSuspect, sizeOfFile } from "./files.ts";
import { APPLICATION_ID, pragmaNumber, SCHEMA_VERSION, TABLES } from "./schema.ts";
import { troubleOf } from "./sqlite_errors.ts";

/** Up to this size the whole file is examined at every start; it reads at a few hundred MiB a second. */
const CHECKED_BYTES = 32 * 1024 * 1024;

export type Found =
  | { state: "absent" }
  /** Made, but nothing was ever committed to it. */
  | { state: "fresh" }
  | { state: "ours"; version: number }
  | { state: "newer"; version: number }
  | { state: "damaged"; reason: string };

/**
 * What lies at `path`. Throws what SQLite throws when it cannot be told (locks, permissions). Changes nothing, but
 * that with `repair` a transaction that a crash cut off while the file was being made is undone; without, it is E_STATE_IO.
 */
export function inspect(path: string, { repair }: { repair: boolean }): Found {
  const size = sizeOfFile(path) ?? 0;
  const walSize = sizeOfFile(`${path}-wal`) ?? 0;
  if (size === 0 && walSize > 0) {
    return { state: "damaged", reason: "the database is missing or empty but its -wal file is not" };
  }
  if (sizeOfFile(path) === undefined) return { state: "absent" };
  if (size === 0) return { state: "fresh" };
  if (!walHeaderPlausible(`${path}-wal`)) {
    return { state: "damaged", reason: "its -wal file is not one that SQLite wrote" };
  }
  const journal = sizeOfFile(`${path}-journal`) !== undefined;
  const db = new DatabaseSync(path, { readOnly: !(journal && repair), timeout: 50 });
  try {
    return examine(db, size + walSize <= CHECKED_BYTES || isSuspect(path));
  } catch (error) {
    if (journal && !repair && ["io", "readonly"].includes(troubleOf(error))) throw unfinished(path, error);
    if (troubleOf(error) !== "corrupt") throw error;
    return { state: "damaged", reason: error instanceof Error ? error.message : String(error) };
  } finally {
    db.close();
  }
}

function unfinished(path: string, cause: unknown): ReynError {
  return new ReynError("E_STATE_IO", `a crash cut off a write to ${path} that has to be undone first`, {
    fix: "start reyn once",
    cause,
  });
}

function examine(db: DatabaseSync, thoroughly: boolean): Found {
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all().map((row) =>
    row.name
  );
  const application = pragmaNumber(db, "application_id");
  const version = pragmaNumber(db, "user_version");
  if (tables.length === 0 && application === 0 && version === 0) return { state: "fresh" };
  if (application !== APPLICATION_ID) return { state: "damaged", reason: "it belongs to another program" };
  if (version > SCHEMA_VERSION) return { state: "newer", version };
  const missing = TABLES.filter((name) => !tables.includes(name));
  if (version === SCHEMA_VERSION && missing.length > 0) {
    return { state: "damaged", reason: `tables are missing: ${missing.join(", ")}` };
  }
  if (thoroughly) {
    const said = db.prepare("PRAGMA quick_check(1)").get()?.quick_check;
    if (said !== "ok") return { state: "damaged", reason: String(said) };
  }
  return { state: "ours", version };
}

/**
 * SQLite takes a `-wal` with a foreign header for an empty one and overwrites it, with every commit in it. A short file, or
 * one of zeros alone, is what a crash leaves before the first commit: SQLite syncs the header before anything behind it.
 * (No lock lives on the `-wal`, so it may be opened here.)
 */
function walHeaderPlausible(path: string): boolean {
  if ((sizeOfFile(path) ?? 0) < 32) return true;
  const header = Buffer.alloc(32);
  const fd = openSync(path, "r");
  try {
    if (readSync(fd, header, 0, 32, 0) < 32) return true;
    return isZero(header) ? isZeroFrom(fd, 32) : checksumHolds(header);
  } finally {
    closeSync(fd);
  }
}

function isZeroFrom(fd: number, from: number): boolean {
  const piece = Buffer.alloc(256 * 1024);
  for (let at = from;;) {
    const length = readSync(fd, piece, 0, piece.length, at);
    if (length === 0) return true;
    if (!isZero(piece.subarray(0, length))) return false;
    at += length;
  }
}

function isZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0);
}

/** The file format's own rule: 24 bytes summed as 32-bit words, in the byte order that the magic number names. */
function checksumHolds(header: Buffer): boolean {
  const magic = header.readUInt32BE(0);
  if (magic !== 0x377f0682 && magic !== 0x377f0683) return false;
  const word = (at: number) => magic === 0x377f0683 ? header.readUInt32BE(at) : header.readUInt32LE(at);
  let first = 0;
  let second = 0;
  for (let at = 0; at < 24; at += 8) {
    first = (first + word(at) + second) >>> 0;
    second = (second + word(at + 4) + first) >>> 0;
  }
  return header.readUInt32BE(24) === first && header.readUInt32BE(28) === second;
}
