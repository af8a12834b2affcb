import { Buffer } from "node:buffer";
import type { Ids } from "../clock/ids.ts";
import { estimateBytes } from "./bounds.ts";
import { encodeEvent, type QueuedEvent } from "./encode.ts";
import type { AuditType } from "./events.ts";
import { DAY_MS, dayOf } from "./file_name.ts";

/** Lines of one day, encoded once, so that a repeated write writes the same bytes. */
export interface Batch {
  day: string;
  lines: Uint8Array;
  count: number;
}

export interface QueueLimit {
  events: number;
  /** Estimated memory of the queued data. */
  bytes: number;
}

/** What waits to be written, in order. Above the limit the newest are counted in one record that stands in their place. */
export interface EventQueue {
  push(type: AuditType, session: string | null, at: number, data: unknown): void;
  length(): number;
  /** How many records were ever queued. */
  queued(): number;
  /** Takes up to `maxEvents` of the oldest that happened on one day; null when nothing waits. */
  take(maxEvents: number): Batch | null;
}

const MAX_BATCH_BYTES = 4 * 1024 * 1024;

interface Waiting extends QueuedEvent {
  bytes: number;
}

/** `lost` is told of each event that will be missing, with the reason of its `audit_dropped`. */
export function eventQueue(
  limit: QueueLimit,
  ids: Ids,
  lost: (count: number, reason: string) => void = () => {},
): EventQueue {
  let waiting: Waiting[] = [];
  let bytes = 0;
  let queued = 0;
  /** Counts what was dropped since the last event that was accepted. */
  let dropped: { count: number; reason: "queue_full" } | null = null;

  const append = (event: Waiting) => {
    waiting.push(event);
    bytes += event.bytes;
    queued++;
  };

  return {
    push(type, session, at, data) {
      const size = sizeOf(session, data);
      const fits = waiting.length < limit.events && bytes + size <= limit.bytes;
      if (!fits) lost(1, "queue_full");
      if (fits) {
        dropped = null;
        append({ type, session, at, data, bytes: size });
      } else if (dropped) {
        dropped.count++;
      } else {
        dropped = { count: 1, reason: "queue_full" };
        append({ type: "audit_dropped", session: null, at, data: dropped, bytes: 0 });
      }
    },
    length: () => waiting.length,
    queued: () => queued,
    take(maxEvents) {
      const first = waiting[0];
      if (!first) return null;
      const dayNumber = Math.floor(first.at / DAY_MS);
      const lines: string[] = [];
      let chars = 0;
      for (const event of waiting) {
        if (lines.length === maxEvents || chars > MAX_BATCH_BYTES) break;
        if (Math.floor(event.at / DAY_MS) !== dayNumber) break;
        const line = encodeEvent(event, ids, lost);
        bytes -= event.bytes;
        chars += line.length;
        lines.push(line);
        if (event.data === dropped) dropped = null;
      }
      waiting = lines.length === waiting.length ? [] : waiting.slice(lines.length);
      return { day: dayOf(first.at), lines: Buffer.from(lines.join("\n") + "\n"), count: lines.length };
    },
  };
}

/** Data that throws while it is looked at is kept: encoding it will tell what is wrong. */
function sizeOf(session: string | null, data: unknown): number {
  try {
    return 64 + estimateBytes(data) + (session?.length ?? 0);
  } catch {
    return 64;
  }
}
