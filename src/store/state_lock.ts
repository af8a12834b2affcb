import { closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import process from "node:process";
import { readTextFile } from "../config/read_file.ts";
import { ReynError } from "../errors/reyn_error.ts";
import { refusedWrite } from "./refused_write.ts";
import { stateError, troubleOf } from "./sqlite/sqlite_errors.ts";

export interface LockHolder {
  /** The command that runs, as the operator would name it: `serve`, `run`. */
  verb: string;
  pid: number;
  /** Wall-clock epoch milliseconds. */
  startedAt: number;
}

export type StateLock =
  /** `release` may be called more than once. The kernel releases it when the process ends, however it ends. */
  | { status: "acquired"; release(): void }
  /** `holder` is missing when it has not yet, or not readably, said who it is. */
  | { status: "held"; holder: LockHolder | undefined };

const LOCK_FILE = "lock";
const HOLDER_FILE = "lock-holder.json";
const MOST_HOLDER_BYTES = 4096;

/** Keeps the open databases from being collected, which would close them and so release the lock. */
const held = new Set<DatabaseSync>();

/**
 * Makes this process the one that runs on the state folder `dir` (absolute; made where it is missing), without waiting.
 * Throws E_STATE_UNWRITABLE where nothing can be written in the folder, E_STATE_IO where the folder or the lock file cannot be used,
 * E_STATE_FULL where the disk has no room for it.
 *
 * The lock is SQLite's own, on an empty database that nothing is ever written to. The file must never be opened by other means
 * within this process: closing any descriptor of a file drops all of the process's locks on it.
 */
export function acquireStateLock(options: { dir: string; holder: LockHolder }): StateLock {
  const { dir, holder } = options;
  const path = join(dir, LOCK_FILE);
  const holderPath = join(dir, HOLDER_FILE);
  let db: DatabaseSync | undefined;
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    makeLockFile(path);
    db = new DatabaseSync(path, { timeout: 0 });
    db.exec("BEGIN IMMEDIATE");
    writeHolder(holderPath, holder);
  } catch (error) {
    db?.close();
    if (db && isLocked(error)) return { status: "held", holder: readHolder(holderPath) };
    throw unusable(path, error);
  }
  const lock = db;
  held.add(lock);
  return {
    status: "acquired",
    release() {
      if (!held.delete(lock)) return;
      rmSync(holderPath, { force: true });
      lock.close();
    },
  };
}

/** Makes the file for its owner alone. One that is there is not opened: that could drop a lock of this process. */
function makeLockFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (!(error instanceof Error) || Reflect.get(error, "code") !== "EEXIST") throw error;
  }
}

/** Who runs on the state folder, as far as can be told without touching the lock; for listings. */
export function lockHolder(dir: string): LockHolder | undefined {
  return readHolder(join(dir, HOLDER_FILE));
}

/** The holder's own account, unless the process it names is gone: then the present holder has not written its own yet. */
function readHolder(path: string): LockHolder | undefined {
  try {
    const read = readTextFile(path, HOLDER_FILE, MOST_HOLDER_BYTES);
    if (read.state !== "text") return undefined;
    const found: unknown = JSON.parse(read.text);
    return isHolder(found) && isAlive(found.pid) ? found : undefined;
  } catch {
    return undefined;
  }
}

/** Whole or not at all, since others read it at any time. */
function writeHolder(path: string, { verb, pid, startedAt }: LockHolder): void {
  // Only who holds the lock writes it, so what a crash left is overwritten by the next.
  const partial = `${path}.new`;
  // Made anew and by nobody else, so that a link laid there leads nowhere.
  rmSync(partial, { force: true });
  writeFileSync(partial, `${JSON.stringify({ pid, verb, startedAt })}\n`, { mode: 0o600, flag: "wx" });
  renameSync(partial, path);
}

function isHolder(value: unknown): value is LockHolder {
  if (typeof value !== "object" || value === null) return false;
  const { pid, verb, startedAt } = value as Record<keyof LockHolder, unknown>;
  return Number.isSafeInteger(pid) && Number(pid) > 0 && typeof verb === "string" &&
    typeof startedAt === "number" && !Number.isNaN(new Date(startedAt).getTime());
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && Reflect.get(error, "code") === "EPERM";
  }
  return !isZombie(pid);
}

/** A process that ended but was not waited for still answers signals. */
function isZombie(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).startsWith("Z");
  } catch {
    return false;
  }
}

function isLocked(error: unknown): boolean {
  return error instanceof Error && /database (table )?is locked/.test(error.message);
}

function unusable(path: string, cause: unknown): ReynError {
  if (troubleOf(cause) === "full") return stateError(cause, path);
  const refused = refusedWrite(dirname(path), cause);
  if (refused) return refused;
  const said = cause instanceof Error ? cause.message : String(cause);
  const fix = /not a database/.test(said) ? "that file is not reyn's lock; move it away" : undefined;
  return new ReynError("E_STATE_IO", `${path}: ${said}`, { cause, ...(fix === undefined ? {} : { fix }) });
}
