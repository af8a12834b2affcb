import { statSync } from "node:fs";
import type { Clock } from "../../clock/clock.ts";
import { sleep } from "../../clock/clock.ts";
import { ReynError } from "../../errors/reyn_error.ts";
import { connect, type Connection } from "./connection.ts";
import { markSuspect } from "./files.ts";
import { createLedger, type Ledger } from "./ledger.ts";
import { stateError, troubleOf } from "./sqlite_errors.ts";
import type { Statements } from "./statements.ts";

/** How long a call waits, all in all, for a lock that another process holds. */
export const BUSY_LIMIT_MS = 30_000;
const READ_RETRY_MS = 20;
/** What cannot be written is tried again at most this often: each time the file is opened anew. */
const UNWRITABLE_MS = 500;
/** Failed writes, one after the other, behind which this is no passing trouble. */
const FAILING = 2;

/**
 * The open file. After a failure whose effect on disk is unknown the connection is thrown away, and the next use
 * opens it anew and compares it with the ledger of what was acknowledged before anything is written on top.
 */
export interface Database {
  readonly path: string;
  readonly ledger: Ledger;
  /** Throws a ReynError where the file cannot be used. */
  connection(): Connection;
  /** The connection, to write with: throws E_STATE_UNWRITABLE without trying while that was the answer a moment ago. */
  toWrite(): Connection;
  /** A write was committed. */
  written(): void;
  /** The file can be read alone; nothing of the write is in it. */
  unwritable(error: unknown): ReynError;
  /** Runs a read, waiting for locks of other processes. */
  read<T>(fn: (statements: Statements) => T): Promise<T>;
  /** The outcome of the last write is unknown. */
  distrust(error: ReynError): void;
  /** Ends all use of the file; every further call fails with what is returned. */
  condemn(error: unknown): ReynError;
  /** Undefined while the path still names the file that is open; else every further call fails with what is returned. */
  displaced(): ReynError | undefined;
  close(): void;
}

export interface DatabaseOptions {
  path: string;
  readOnly: boolean;
  clock: Clock;
  onReopened?: () => void;
  onFailing?: (error: ReynError) => void;
}

export function createDatabase(first: Connection, options: DatabaseOptions): Database {
  const { path, readOnly, clock } = options;
  const ledger = createLedger();
  const identity = identityOf(path);
  let current: Connection | undefined = first;
  let ended: ReynError | undefined;
  let refusal: { error: ReynError; at: number } | undefined;
  let [failures, told, reopened] = [0, false, false];

  const drop = () => {
    try {
      current?.db.close();
    } catch {
      // The file is being given up or reopened; a close that fails changes neither.
    }
    current = undefined;
  };

  const condemn = (error: unknown): ReynError => {
    drop();
    const found = stateError(error, path);
    if (found.code === "E_STATE_CORRUPT" && !readOnly) markSuspect(path);
    return ended ??= found;
  };

  const displaced = (): ReynError | undefined => {
    if (identityOf(path) === identity) return undefined;
    return condemn(
      new ReynError("E_STATE_IO", `${path} was removed or replaced while it was open`, {
        fix: "stop reyn before touching its state folder",
      }),
    );
  };

  const connection = (): Connection => {
    if (ended) throw ended;
    if (current) return current;
    const gone = displaced();
    if (gone) throw gone;
    try {
      current = connect(path, { readOnly, nowMs: clock.now() });
      const lost = ledger.missingIn(current.statements);
      if (lost) throw new ReynError("E_STATE_CORRUPT", `${path}: ${lost}`, { fix: "restore a backup" });
    } catch (error) {
      const found = stateError(error, path);
      if (found.code === "E_STATE_CORRUPT") throw condemn(found);
      drop();
      throw found;
    }
    reopened = true;
    return current;
  };

  const failed = (error: ReynError, lasting: boolean) => {
    failures += 1;
    if (told || !(lasting || failures >= FAILING)) return;
    told = true;
    options.onFailing?.(error);
  };

  return {
    path,
    ledger,
    connection,
    toWrite() {
      if (refusal && clock.monotonic() - refusal.at < UNWRITABLE_MS) throw refusal.error;
      // SQLite opens for reading what it may not write, and stays with that.
      if (refusal) drop();
      refusal = undefined;
      return connection();
    },
    written() {
      failures = 0;
      told = false;
      if (!reopened) return;
      reopened = false;
      options.onReopened?.();
    },
    unwritable(error) {
      const found = stateError(error, path);
      refusal = { error: found, at: clock.monotonic() };
      failed(found, true);
      return found;
    },
    async read(fn) {
      const since = clock.monotonic();
      for (;;) {
        try {
          return fn(connection().statements);
        } catch (error) {
          const trouble = troubleOf(error);
          if (trouble === "corrupt") throw condemn(error);
          if (trouble !== "busy" || clock.monotonic() - since > BUSY_LIMIT_MS) throw stateError(error, path);
        }
        await sleep(clock, READ_RETRY_MS);
      }
    },
    distrust(error) {
      drop();
      failed(error, false);
    },
    condemn,
    displaced,
    close() {
      ended ??= new ReynError("E_STATE_IO", "the store is closed");
      current?.db.close();
      current = undefined;
    },
  };
}

function identityOf(path: string): string {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found ? `${found.dev}:${found.ino}` : "none";
}
