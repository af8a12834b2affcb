import { constants } from "node:fs";
import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { setImmediate } from "node:timers";
import type { Clock } from "../clock/clock.ts";
import type { PendingStore, StoredChange, StoredRecord } from "./composer.ts";
import { encodeFile, encodeRecord } from "./pending_format.ts";

/** A pending store in a file that is rewritten whole, so that nothing of it depends on any other file. */
export interface PendingFile extends PendingStore {
  /** Waits for rewrites under way, and tries once more where the last one failed. Afterwards nothing is written any more. */
  close(): Promise<void>;
}

export interface PendingFileOptions {
  path: string;
  /** What the file holds already. */
  found: readonly { id: string; record: StoredRecord }[];
  /** It holds more than that, which is to go. */
  stale?: boolean;
  /** Paces new attempts after a failure. */
  ioClock: Clock;
  /** Told of the first failed rewrite of an episode. */
  onFailure(reason: string): void;
  /** Marks the labelled points at which a crash is tried out. */
  fault?: (label: string) => void;
}

const RETRY_MS = 1000;

/**
 * Opens the store; nothing is written before the first change, unless the file is stale. Each rewrite goes to a temporary file that is synced and
 * renamed over the old one, and the folder is synced, before the changes in it count as saved. Changes of one turn
 * of the loop, and those that come while a rewrite runs, share one.
 */
export function openPendingFile(options: PendingFileOptions): PendingFile {
  const { path, ioClock, fault = () => {} } = options;
  const lines = new Map(options.found.map(({ id, record }) => [id, encodeRecord(record)]));
  let next: Batch | undefined;
  let running: Promise<void> | undefined;
  let failing = false;
  let closed = false;
  let cancelRetry = () => {};

  const rewrite = async (batch: Batch): Promise<void> => {
    cancelRetry();
    next = undefined;
    fault("pending:before_write");
    try {
      await writeWhole(path, encodeFile(lines.values()));
      failing = false;
      fault("pending:after_write");
      batch.resolve();
    } catch (error) {
      if (!failing) options.onFailure(error instanceof Error ? error.message : String(error));
      failing = true;
      cancelRetry = ioClock.after(RETRY_MS, () => void plan().promise.catch(() => {}));
      batch.reject(error);
    }
  };

  const run = (batch: Batch): void => {
    running = rewrite(batch).finally(() => {
      running = undefined;
      if (next) run(next);
    });
  };

  /** The rewrite that will hold everything so far. */
  const plan = (): Batch => {
    if (next) return next;
    const batch = createBatch();
    next = batch;
    // What comes in this turn of the loop goes along.
    if (!running) {
      setImmediate(() => {
        if (!running && next === batch) run(batch);
      });
    }
    return batch;
  };

  if (options.stale) void plan().promise.catch(() => {});

  return {
    save(changes: readonly StoredChange[]) {
      // The file may belong to who has taken up the session since.
      if (closed) return Promise.resolve();
      let changed = false;
      for (const { id, record } of changes) {
        if (record) lines.set(id, encodeRecord(record));
        else if (!lines.delete(id)) continue;
        changed = true;
      }
      if (changed) return plan().promise;
      return next?.promise ?? running ?? Promise.resolve();
    },
    async close() {
      while (next ?? running) await (next?.promise ?? running)?.catch(() => {});
      if (failing && !closed) await plan().promise.catch(() => {});
      closed = true;
      cancelRetry();
    },
  };
}

interface Batch {
  promise: Promise<void>;
  resolve(): void;
  reject(error: unknown): void;
}

function createBatch(): Batch {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  return { promise, resolve, reject };
}

async function writeWhole(path: string, text: string): Promise<void> {
  const folder = dirname(path);
  const temporary = `${path}.new`;
  // What a killed process left there goes, and so does anything else: a pipe would keep us waiting, a link lead us away.
  await rm(temporary, { force: true });
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const file = await open(temporary, flags, 0o600).catch(async (error: unknown) => {
    if (!isMissing(error)) throw error;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return await open(temporary, flags, 0o600);
  });
  await closing(file, async () => {
    await file.writeFile(text);
    await file.sync();
  });
  await rename(temporary, path);
  const holder = await open(folder, constants.O_RDONLY);
  await closing(holder, () => holder.sync());
}

async function closing(file: FileHandle, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } finally {
    await file.close();
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
