import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { ReynError } from "../../errors/reyn_error.ts";
import { syncFolder } from "./files.ts";
import { APPLICATION_ID, pragmaNumber } from "./schema.ts";
import { troubleOf } from "./sqlite_errors.ts";

/** What file systems answer that know no second name of a file. */
const NO_HARD_LINKS: ReadonlySet<unknown> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);

export interface DatabaseCopy {
  /** Of the finished file. */
  bytes: number;
  /** Version of its schema. */
  version: number;
}

/** The copy waits this long for a lock; writers of a WAL database never hold it up for longer than a recovery takes. */
const BUSY_TIMEOUT_MS = 30_000;

/**
 * Makes `target`, a file that does not exist yet, a copy of the database at `source` as of one instant, while others read and
 * write it. The copy is examined, 0600, and synced before it appears under its name, whole or not at all. Throws
 * E_BACKUP_EXISTS, E_STATE_CORRUPT where the copy does not pass, and what SQLite and the file system throw.
 */
export function copyDatabase(
  source: string,
  target: string,
  killPoint: (label: string) => void = () => {},
): DatabaseCopy {
  const partial = `${target}.partial`;
  rmSync(partial, { force: true });
  try {
    // SQLite fills an empty file, and would make one with a wider mode.
    closeSync(openSync(partial, "wx", 0o600));
    const db = new DatabaseSync(source, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    try {
      killPoint("store:in_copy");
      db.prepare("VACUUM INTO ?").run(partial);
    } finally {
      db.close();
    }
    const version = examineCopy(partial, source);
    syncFile(partial);
    killPoint("store:before_copy_named");
    nameWithoutReplacing(partial, target);
    syncFolder(dirname(target));
    return { bytes: statSync(target).size, version };
  } finally {
    rmSync(partial, { force: true });
  }
}

/** Every page, index and constraint. Answers the version. */
function examineCopy(path: string, source: string): number {
  let said: unknown;
  try {
    const db = new DatabaseSync(path, { readOnly: true });
    try {
      said = db.prepare("PRAGMA integrity_check(1)").get()?.["integrity_check"];
      if (pragmaNumber(db, "application_id") !== APPLICATION_ID) said = "it does not belong to reyn";
      if (said === "ok") return pragmaNumber(db, "user_version");
    } finally {
      db.close();
    }
  } catch (error) {
    if (troubleOf(error) !== "corrupt") throw error;
    said = error instanceof Error ? error.message : String(error);
  }
  throw new ReynError("E_STATE_CORRUPT", `the copy of ${source} did not pass its check: ${String(said)}`, {
    fix: "the copy was thrown away; examine the store: stop reyn and start it again",
  });
}

function syncFile(path: string): void {
  const fd = openSync(path, "r+");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** A rename would silently put it in the place of what came there meanwhile. */
function nameWithoutReplacing(partial: string, target: string): void {
  try {
    linkSync(partial, target);
  } catch (error) {
    const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
    if (code === "EEXIST") throw backupExists(target);
    if (!NO_HARD_LINKS.has(code)) throw error;
    if (existsSync(target)) throw backupExists(target);
    renameSync(partial, target);
  }
}

export function backupExists(target: string): ReynError {
  return new ReynError("E_BACKUP_EXISTS", `${target} exists already; nothing was written`, {
    fix: "name a file or folder that does not exist yet",
  });
}
