import { isAbsolute, join } from "node:path";
import { type Clock, sleep } from "../../clock/clock.ts";
import { ReynError } from "../../errors/reyn_error.ts";
import { DEFAULT_INBOX_LIMITS, type InboxLimits, type Store } from "../store.ts";
import { connect, type Connection } from "./connection.ts";
import { copyDatabase } from "./copy.ts";
import { BUSY_LIMIT_MS, createDatabase } from "./database.ts";
import { checkFileSystem, type FileSystemProbe } from "./file_system.ts";
import {
  clearSuspect,
  damagedFiles,
  DATABASE_FILE,
  makeDatabaseFile,
  makeFolder,
  narrowMode,
  sizeOfFile,
  versionCopy,
} from "./files.ts";
import { createGroupCommit } from "./group_commit.ts";
import { type Found, inspect } from "./inspect.ts";
import { reading } from "./reading.ts";
import { SCHEMA_VERSION } from "./schema.ts";
import { setAside } from "./set_aside.ts";
import { stateError, troubleOf } from "./sqlite_errors.ts";
import { NOTHING_TO_READ, readOnlyStore, sqliteStore } from "./sqlite_store.ts";

/** What the operator should hear of besides errors. */
export type StoreNotice =
  /** The database was damaged and is kept at `path`; the open that found it fails. */
  | { kind: "set_aside"; path: string; reason: string }
  /** An older reyn wrote the database. It is brought up to date; `path` is a copy of it as it was. */
  | { kind: "migrated"; path: string; from: number; to: number }
  /** There was no database, but these are lying beside it: the store begins empty. */
  | { kind: "started_empty"; damaged: string[] }
  /** Nothing can be stored any more, until `reopened`. Said once. */
  | { kind: "failing"; error: ReynError }
  /** Writes had failed; the file was opened anew, holds all that was acknowledged, and takes more. */
  | { kind: "reopened" };

export interface SqliteStoreOptions {
  /** The state folder, absolute; made where it is missing. The database in it is `reyn.db`. */
  dir: string;
  clock: Clock;
  /** Default `DEFAULT_INBOX_LIMITS`; 0 is no limit. */
  limits?: InboxLimits;
  /** For listings: changes nothing, and takes a folder without a store for an empty one. Default false. */
  readOnly?: boolean;
  /** With `readOnly`: every call sees the store as it was when the first was made, until it is closed. Default false. */
  asOfOneInstant?: boolean;
  onNotice?: (notice: StoreNotice) => void;
  /** Called at named instants, so that tests can kill the process, or fail the disk, right there. */
  killPoint?: (label: string) => void;
  /** Default: statfs(2) and /proc/self/mountinfo on Linux. */
  fileSystemType?: FileSystemProbe;
}

/**
 * Opens the embedded store. The caller holds the state lock, unless it only reads.
 *
 * Fails with a ReynError: E_STATE_FILESYSTEM on a network file system, E_STATE_NEWER when a newer reyn wrote it,
 * E_STATE_CORRUPT when it is damaged (it is then set aside, and the next open begins empty), E_STATE_FULL, E_STATE_UNWRITABLE, E_STATE_IO.
 * Of the store's calls, E_STATE_FULL and E_STATE_UNWRITABLE mean that nothing of the call is stored; after E_STATE_IO its outcome is unknown, as after
 * a crash, and what was in memory has to be read again.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { dir, clock } = options;
  if (!isAbsolute(dir)) throw new TypeError(`the state folder must be absolute: ${dir}`);
  const path = join(dir, DATABASE_FILE);
  await checkFileSystem(dir, options.fileSystemType);
  const connection = await whileBusy(
    clock,
    path,
    () => options.readOnly ? toRead(path, options) : toWrite(path, options),
  );
  const onReopened = () => options.onNotice?.({ kind: "reopened" });
  const onFailing = (error: ReynError) => options.onNotice?.({ kind: "failing", error });
  if (options.readOnly) {
    if (!connection) return readOnlyStore(NOTHING_TO_READ, () => {});
    if (options.asOfOneInstant) connection.db.exec("BEGIN");
    const database = createDatabase(connection, { path, readOnly: true, clock });
    return readOnlyStore(reading(database), () => database.close());
  }
  if (!connection) throw new ReynError("E_INTERNAL", `${path} was not opened`);
  const database = createDatabase(connection, { path, readOnly: false, clock, onReopened, onFailing });
  const killPoint = options.killPoint ?? (() => {});
  const limits = effective(options.limits ?? DEFAULT_INBOX_LIMITS);
  return sqliteStore(database, createGroupCommit(database, { clock, limits, killPoint }), killPoint);
}

function toRead(path: string, options: SqliteStoreOptions): Connection | undefined {
  const found = inspect(path, { repair: false });
  switch (found.state) {
    case "absent":
    case "fresh":
      return undefined;
    case "damaged":
      throw new ReynError("E_STATE_CORRUPT", `${path} is damaged: ${found.reason}`, {
        fix: "the next start of reyn sets it aside",
      });
    case "newer":
      throw newer(path, found.version);
    case "ours":
      if (found.version === SCHEMA_VERSION) {
        return connect(path, { readOnly: true, nowMs: options.clock.now() });
      }
      throw new ReynError("E_STATE_IO", `${path} is of an older reyn`, {
        fix: "start reyn once to bring it up to date: with `reyn run` or `reyn serve`",
      });
  }
}

function toWrite(path: string, options: SqliteStoreOptions): Connection {
  const { dir, clock } = options;
  const killPoint = options.killPoint ?? (() => {});
  makeFolder(dir);
  const found: Found = inspect(path, { repair: true });
  switch (found.state) {
    case "damaged": {
      const kept = setAside(path, clock.now(), killPoint);
      options.onNotice?.({ kind: "set_aside", path: kept, reason: found.reason });
      throw new ReynError("E_STATE_CORRUPT", `${path} is damaged (${found.reason}); it is kept as ${kept}`, {
        fix: `restore a backup to ${path} before the next start, or that start begins with an empty store`,
      });
    }
    case "newer":
      throw newer(path, found.version);
    case "absent":
    case "fresh": {
      const damaged = damagedFiles(dir);
      if (damaged.length > 0) options.onNotice?.({ kind: "started_empty", damaged });
      if (sizeOfFile(path) === undefined) makeDatabaseFile(path);
      break;
    }
    case "ours":
      clearSuspect(path);
      if (found.version < SCHEMA_VERSION) keepOldVersion(path, found.version, options);
      break;
  }
  narrowMode(path);
  const inMigration = () => killPoint("store:in_migration");
  return connect(path, { readOnly: false, nowMs: clock.now(), inMigration });
}

/** A migration cannot be undone: the older reyn, to which the operator may want to go back, can read the copy. */
function keepOldVersion(path: string, version: number, options: SqliteStoreOptions): void {
  const kept = versionCopy(path, version, options.clock.now());
  try {
    copyDatabase(path, kept, options.killPoint);
  } catch (error) {
    const found = stateError(error, path);
    throw new ReynError(
      found.code,
      `${found.message} (while it was copied, before it is brought up to date)`,
      {
        ...(found.fix === undefined ? {} : { fix: found.fix }),
        cause: error,
      },
    );
  }
  options.onNotice?.({ kind: "migrated", path: kept, from: version, to: SCHEMA_VERSION });
}

async function whileBusy<T>(clock: Clock, path: string, open: () => T): Promise<T> {
  const since = clock.monotonic();
  for (;;) {
    try {
      return open();
    } catch (error) {
      if (troubleOf(error) !== "busy" || clock.monotonic() - since > BUSY_LIMIT_MS) {
        throw stateError(error, path);
      }
    }
    await sleep(clock, 20);
  }
}

function newer(path: string, version: number): ReynError {
  return new ReynError(
    "E_STATE_NEWER",
    `${path} has version ${version}, this reyn knows up to ${SCHEMA_VERSION}`,
    {
      fix: "run the newer reyn, or restore a backup made before it ran",
    },
  );
}

function effective(limits: InboxLimits): InboxLimits {
  return {
    waking: limits.waking || Infinity,
    passive: limits.passive || Infinity,
    bytes: limits.bytes || Infinity,
  };
}
