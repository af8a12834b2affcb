import type { Clock } from "../../clock/clock.ts";
import { ReynError } from "../../errors/reyn_error.ts";
import type { InboxLimits } from "../store.ts";
import { BUSY_LIMIT_MS, type Database } from "./database.ts";
import type { Tx } from "./rows.ts";
import { stateError, troubleOf } from "./sqlite_errors.ts";

const MOST_QUEUED = 20_000;
const MOST_QUEUED_CHARS = 256 * 1024 * 1024;
const MOST_IN_BATCH = 512;
const MOST_CHARS_IN_BATCH = 16 * 1024 * 1024;
const FIRST_RETRY_MS = 10;
const LONGEST_RETRY_MS = 250;

/** `keep: false` undoes what the task did, and only that. */
export interface Verdict<T> {
  keep: boolean;
  value: T;
}

export interface GroupCommit {
  /**
   * Runs `task` in the next transaction; resolves when that is durable. A task that is to be undone is undone alone. It is
   * synchronous and may be run again when a transaction could not be committed, or another task in it was undone. `size` is about its length in memory; `acknowledged`
   * runs right after the transaction, before anything else can be written.
   */
  submit<T>(size: number, task: (tx: Tx) => Verdict<T>, acknowledged?: (value: T) => void): Promise<T>;
  /** Refuses further tasks and resolves when those handed in are settled. */
  drain(): Promise<void>;
}

export interface GroupCommitOptions {
  clock: Clock;
  limits: InboxLimits;
  killPoint: (label: string) => void;
}

interface Entry {
  size: number;
  since: number;
  run(tx: Tx): boolean;
  failure: unknown;
  resolve(): void;
  reject(error: ReynError): void;
}

type BatchResult = { status: "settled" } | { status: "busy" };
const SETTLED: BatchResult = { status: "settled" };

/** Promise jobs that a lone call waits, in which others may come to share its transaction. */
const HOPS = 16;
const HOP = Promise.resolve();
/** Lone calls in a row before the event loop gets a turn: timers and signals must not starve. */
const MOST_LONE = 4;

/**
 * All tasks of one turn of the event loop share one transaction, and so one fsync. `setImmediate` catches sessions that are
 * several awaits apart; a call that is alone after some promise jobs does without, for a pass of the event loop costs as much as
 * a quarter of its fsync.
 */
export function createGroupCommit(database: Database, options: GroupCommitOptions): GroupCommit {
  const { clock, killPoint } = options;
  let queue: Entry[] = [];
  let queuedChars = 0;
  let scheduled = false;
  let retryMs = FIRST_RETRY_MS;
  let draining: { promise: Promise<void>; resolve: () => void } | undefined;

  let loneInARow = 0;

  const schedule = () => {
    if (scheduled) return;
    scheduled = true;
    if (loneInARow < MOST_LONE) void flushIfAlone();
    else flushLater();
  };

  const flushLater = () => {
    setImmediate(() => {
      loneInARow = 0;
      flush();
    });
  };

  const flushIfAlone = async (): Promise<void> => {
    for (let hop = 0; hop < HOPS; hop++) {
      await HOP;
      if (queue.length > 1) return flushLater();
    }
    loneInARow += 1;
    flush();
  };

  const flush = () => {
    scheduled = false;
    const batch = takeBatch();
    if (batch.length > 0 && runBatch(batch).status === "busy") {
      putBack(batch);
      scheduled = true;
      clock.after(retryMs, flush);
      retryMs = Math.min(LONGEST_RETRY_MS, retryMs * 2);
      return;
    }
    retryMs = FIRST_RETRY_MS;
    if (queue.length > 0) schedule();
    else draining?.resolve();
  };

  const takeBatch = (): Entry[] => {
    let count = 0;
    let chars = 0;
    for (const entry of queue) {
      if (count === MOST_IN_BATCH || (count > 0 && chars + entry.size > MOST_CHARS_IN_BATCH)) break;
      count++;
      chars += entry.size;
    }
    const batch = queue.slice(0, count);
    queue = queue.slice(count);
    queuedChars -= chars;
    return batch;
  };

  const putBack = (batch: Entry[]) => {
    const now = clock.monotonic();
    const tooOld = (entry: Entry) => now - entry.since > BUSY_LIMIT_MS;
    const locked = new ReynError("E_STATE_IO", `${database.path} was locked for ${BUSY_LIMIT_MS / 1000} s`, {
      fix: "another process has kept the store locked; find it and end it",
    });
    for (const entry of batch.filter(tooOld)) entry.reject(locked);
    queue = [...batch.filter((entry) => !tooOld(entry)), ...queue];
    queuedChars = queue.reduce((sum, entry) => sum + entry.size, 0);
  };

  const runBatch = (batch: Entry[]): BatchResult =>
    tryBatch(batch, false) ?? tryBatch(batch, true) ?? SETTLED;

  /**
   * Savepoints cost as much as what they guard, and what is to be undone is rare: a batch runs without them first, and
   * again with them when one of several tasks has to be undone. That, undefined, is all that comes back then.
   */
  const tryBatch = (batch: Entry[], savepoints: boolean): BatchResult | undefined => {
    let begun = false;
    try {
      const { statements } = database.toWrite();
      const tx: Tx = { statements, now: Math.floor(clock.now()), limits: options.limits, lastMessage: 0 };
      killPoint("store:before_commit");
      statements.begin.run();
      begun = true;
      const whole = savepoints ? runGuarded(batch, tx) : batch.every((entry) => runEntry(entry, tx));
      if (!whole) {
        statements.rollback.run();
        if (batch.length > 1) return undefined;
        settle(batch);
        return SETTLED;
      }
      killPoint("store:in_transaction");
      statements.commit.run();
      killPoint("store:after_commit");
      // What is in a file that nobody will find again is not stored.
      const gone = database.displaced();
      if (gone) {
        for (const entry of batch) entry.reject(gone);
        return SETTLED;
      }
      database.ledger.stored(tx.lastMessage);
      database.written();
    } catch (error) {
      return batchFailed(batch, error, begun);
    }
    settle(batch);
    return SETTLED;
  };

  const settle = (batch: Entry[]) => {
    for (const entry of batch) {
      if (entry.failure === undefined) entry.resolve();
      else entry.reject(stateError(entry.failure, database.path));
    }
  };

  /** Whether what the task did is to be kept. */
  const runEntry = (entry: Entry, tx: Tx): boolean => {
    entry.failure = undefined;
    try {
      return entry.run(tx);
    } catch (error) {
      if (troubleOf(error) !== "other") throw error;
      entry.failure = error;
      return false;
    }
  };

  const runGuarded = (batch: Entry[], tx: Tx): true => {
    const { save, keep, undo } = tx.statements;
    for (const entry of batch) {
      const lastMessage = tx.lastMessage;
      save.run();
      if (!runEntry(entry, tx)) {
        undo.run();
        tx.lastMessage = lastMessage;
      }
      keep.run();
    }
    return true;
  };

  const batchFailed = (batch: Entry[], error: unknown, begun: boolean): BatchResult => {
    const rejectAll = (reason: ReynError) => batch.forEach((entry) => entry.reject(reason));
    const trouble = troubleOf(error);
    if (!begun) {
      if (trouble === "busy") return { status: "busy" };
      rejectAll(trouble === "corrupt" ? database.condemn(error) : stateError(error, database.path));
      return { status: "settled" };
    }
    switch (trouble) {
      case "corrupt":
        rejectAll(database.condemn(error));
        break;
      case "full":
        rollBack();
        // One large message must not fail the small ones that happened to share its transaction.
        if (batch.length === 1) rejectAll(stateError(error, database.path));
        else for (const entry of batch) if (runBatch([entry]).status === "busy") putBack([entry]);
        break;
      case "readonly":
        rollBack();
        rejectAll(database.unwritable(error));
        break;
      case "busy":
      case "io":
      case "other": {
        const unknown = outcomeUnknown(error, database.path);
        database.distrust(unknown);
        rejectAll(unknown);
        break;
      }
    }
    return { status: "settled" };
  };

  const rollBack = () => {
    try {
      const { db, statements } = database.connection();
      if (db.isTransaction) statements.rollback.run();
    } catch (error) {
      database.distrust(outcomeUnknown(error, database.path));
    }
  };

  return {
    submit<T>(size: number, task: (tx: Tx) => Verdict<T>, acknowledged?: (value: T) => void): Promise<T> {
      if (draining) return Promise.reject(new ReynError("E_STATE_IO", "the store is closed"));
      if (queue.length >= MOST_QUEUED || (queue.length > 0 && queuedChars + size > MOST_QUEUED_CHARS)) {
        return Promise.reject(
          new ReynError("E_STATE_IO", `${queue.length} calls wait for ${database.path}; no more are taken`),
        );
      }
      return new Promise<T>((resolve, reject) => {
        let value: { of: T } | undefined;
        queue.push({
          size,
          since: clock.monotonic(),
          failure: undefined,
          run(tx) {
            const verdict = task(tx);
            value = { of: verdict.value };
            return verdict.keep;
          },
          resolve() {
            if (!value) return;
            acknowledged?.(value.of);
            resolve(value.of);
          },
          reject,
        });
        queuedChars += size;
        schedule();
      });
    },
    drain() {
      if (draining) return draining.promise;
      draining = Promise.withResolvers<void>();
      if (queue.length === 0 && !scheduled) draining.resolve();
      return draining.promise;
    },
  };
}

function outcomeUnknown(error: unknown, path: string): ReynError {
  const said = error instanceof Error ? error.message : String(error);
  return new ReynError(
    "E_STATE_IO",
    `${path}: ${said}; whether this was stored is unknown until it is read again`,
    {
      cause: error,
    },
  );
}
