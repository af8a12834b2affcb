import { type Clock, sleep } from "../clock/clock.ts";
import type { Ids } from "../clock/ids.ts";
import type { Finding } from "../errors/finding.ts";
import { finding } from "../errors/reyn_error.ts";
import type { Audit } from "./audit.ts";
import { hasCode, reasonOf } from "./io_error.ts";
import { openLogFile } from "./log_file.ts";
import { type Batch, eventQueue, type QueueLimit } from "./queue.ts";

export interface AuditOptions {
  /** The events folder; made (0700) when the first event is written. */
  dir: string;
  clock: Clock;
  ids: Ids;
  /** This process, part of the name of its files. */
  pid: number;
  /** Longest time an event waits for others before it is written. Default 50. */
  flushMs?: number;
  /** Events written and synced together. Default 1000. */
  maxBatch?: number;
  /** What may wait in memory. Default 100 000 events, 32 MiB. */
  queueLimit?: QueueLimit;
  /** Default 64 MiB. */
  maxFileBytes?: number;
  /** Longest time `close` waits for the disk. Default 5000. */
  closeMs?: number;
  /** Told of events that will be missing in the log, with the reason of their `audit_dropped`. */
  onLost?: (count: number, reason: string) => void;
  /** Told once when writing begins to fail, and at `close` when events were lost. */
  onProblem?: (problem: Finding) => void;
}

const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 5_000;

/**
 * Opens the audit log of this process. Data handed to `emit` belongs to the log: the caller changes it no more.
 * Problems with the disk stop nothing: events wait in memory up to the limit while writing is tried again, ever more
 * rarely. `flush` and `close` do not wait for a disk that fails: they end after one attempt.
 */
export function openAudit(options: AuditOptions): Audit {
  const { dir, clock, ids, pid, flushMs = 50, maxBatch = 1000, closeMs = 5_000 } = options;
  const { queueLimit = { events: 100_000, bytes: 32 * 1024 * 1024 }, maxFileBytes = 64 * 1024 * 1024 } =
    options;
  const queue = eventQueue(queueLimit, ids, options.onLost);
  const file = openLogFile({ dir, pid, maxFileBytes });

  /** Encoded and not yet written: kept as it is until it is. */
  let batch: Batch | null = null;
  let written = 0;
  let running: Promise<void> | null = null;
  let disarm: (() => void) | null = null;
  let retryMs: number | null = null;
  let closing: Promise<void> | null = null;

  const report = (problem: Finding) => {
    try {
      options.onProblem?.(problem);
    } catch {
      // The log goes on whatever becomes of its reports.
    }
  };

  const arm = (delayMs: number) => {
    disarm ??= clock.after(delayMs, () => {
      disarm = null;
      void start(queue.queued());
    });
  };

  /** Writes until `goal` records are on disk and no full batch waits. */
  const drain = async (goal: number) => {
    for (;;) {
      if (!batch && (written < goal || queue.length() >= maxBatch)) batch = queue.take(maxBatch);
      if (!batch) return;
      await file.append(batch.day, batch.lines);
      written += batch.count;
      batch = null;
      retryMs = null;
    }
  };

  const failed = (error: unknown) => {
    if (retryMs === null) report(writeProblem(dir, error));
    retryMs = retryMs === null ? FIRST_RETRY_MS : Math.min(retryMs * 2, LONGEST_RETRY_MS);
  };

  /** Starts a drain unless one runs. Afterwards a timer is armed for what is left, and none when nothing is. */
  const start = (goal: number): Promise<void> => {
    disarm?.();
    disarm = null;
    running ??= drain(goal).catch(failed).finally(() => {
      running = null;
      if (written < queue.queued() && !closing) arm(retryMs ?? flushMs);
    });
    return running;
  };

  const flush = async () => {
    const goal = queue.queued();
    if (running) await running;
    // A drain that began in the meantime may aim lower than this one.
    while (written < goal) {
      const mine = running === null;
      await start(goal);
      if (mine && retryMs !== null) return;
    }
  };

  const close = async () => {
    const done = new AbortController();
    const drained = flush().then(() => file.close()).catch(() => {});
    await Promise.race([drained, sleep(clock, closeMs, done.signal)]);
    done.abort();
    disarm?.();
    disarm = null;
    const lost = queue.queued() - written;
    if (lost > 0) report(finding("E_AUDIT_LOST", `${lost} audit events could not be written to ${dir}`));
  };

  return {
    emit(type, session, data) {
      if (closing) return;
      queue.push(type, session, clock.now(), data);
      if (running || retryMs !== null) return;
      if (queue.length() < maxBatch) arm(flushMs);
      // Encoding a batch is no work for the caller's stack.
      else if (queue.length() === maxBatch) queueMicrotask(() => void start(queue.queued()));
    },
    flush,
    close: () => closing ??= close(),
  };
}

function writeProblem(dir: string, error: unknown): Finding {
  const message = hasCode(error, "ENOSPC", "EDQUOT")
    ? `the disk of ${dir} is full`
    : `the audit log in ${dir} cannot be written: ${reasonOf(error)}`;
  return finding("E_AUDIT_WRITE", message, { fix: "events wait in memory and writing is tried again" });
}
