import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";

export const DATABASE_FILE = "reyn.db";

/** Makes the folder, and what is missing above it, readable by us alone. An existing folder keeps its mode. */
export function makeFolder(dir: string): void {
  const made = mkdirSync(dir, { recursive: true, mode: 0o700 });
  if (made === undefined) return;
  for (let at = dir; at.length >= made.length; at = dirname(at)) syncFolder(dirname(at));
}

/** Makes the database file, empty, so that it never exists with a wider mode. */
export function makeDatabaseFile(path: string): void {
  closeSync(openSync(path, "wx", 0o600));
  syncFolder(dirname(path));
}

/** By name only: opening and closing the file here would drop this process's SQLite locks on it. */
export function narrowMode(path: string): void {
  if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
}

export function syncFolder(dir: string): void {
  const fd = openSync(dir, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

export function sizeOfFile(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}

/** Paths of databases that were set aside in this folder, oldest first, also where only their `-wal` was left to set aside. */
export function damagedFiles(dir: string): string[] {
  const name = /^(reyn\.db\.damaged-[0-9TZ]+(-[0-9]+)?)(-wal|-shm|-journal)?$/;
  const found = readdirSync(dir).flatMap((entry) => name.exec(entry)?.[1] ?? []);
  return [...new Set(found)].sort().map((entry) => join(dir, entry));
}

/** Where a database of an older version is kept before it is brought up to date: a name that was free. */
export function versionCopy(path: string, version: number, nowMs: number): string {
  const base = `${path}.version-${version}-${fileStamp(nowMs)}`;
  let name = base;
  for (let n = 2; existsSync(name); n++) name = `${base}-${n}`;
  return name;
}

/** UTC, to the second: `20261130T101500Z`. */
export function fileStamp(nowMs: number): string {
  return new Date(nowMs).toISOString().replace(/[-:]|\.\d+/g, "");
}

/** Leaves word that the next start must examine the whole file, however large. Best effort. */
export function markSuspect(path: string): void {
  try {
    writeFileSync(suspectMark(path), `${basename(path)} was found damaged while in use\n`, { mode: 0o600 });
  } catch {
    // A disk that takes no mark is reported by the failure that led here.
  }
}

export function isSuspect(path: string): boolean {
  return existsSync(suspectMark(path));
}

export function clearSuspect(path: string): void {
  rmSync(suspectMark(path), { force: true });
}

function suspectMark(path: string): string {
  return `${path}.suspect`;
}
