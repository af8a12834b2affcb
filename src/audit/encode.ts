import type { Ids } from "../clock/ids.ts";
import { boundString, boundStrings, MAX_LINE_CHARS, MAX_STRING_BYTES } from "./bounds.ts";
import type { AuditData, AuditType } from "./events.ts";
import { encodeLine } from "./line.ts";

/** One event as it waits: its data, or the function that builds it. */
export interface QueuedEvent {
  type: AuditType;
  session: string | null;
  at: number;
  data: unknown;
}

/** The line of an event. An event whose data cannot be built or is too large becomes an `audit_dropped`. */
export function encodeEvent(
  event: QueuedEvent,
  ids: Ids,
  lost: (count: number, reason: string) => void = () => {},
): string {
  const { type, data } = event;
  const id = ids.next();
  const line = (lineType: AuditType, lineData: Record<string, unknown>) =>
    encodeLine({
      id,
      type: lineType,
      timestamp: timestampOf(event.at),
      session: event.session === null ? null : boundString(event.session),
      data: lineData,
    });
  const dropped = (gap: AuditData["audit_dropped"]) => {
    lost(gap.count, gap.reason);
    return line("audit_dropped", { ...gap });
  };
  try {
    const built: unknown = typeof data === "function" ? data() : data;
    if (!isRecord(built)) throw new TypeError("data is not an object");
    let text = line(type, built);
    // A short line holds no long string: the common case is spared the search for one.
    if (text.length * 3 > MAX_STRING_BYTES) {
      const bounded = boundStrings(built);
      if (bounded !== built && isRecord(bounded)) text = line(type, bounded);
    }
    return text.length <= MAX_LINE_CHARS ? text : dropped({ count: 1, reason: "too_large", event: type });
  } catch (error) {
    // The name only: the message of what was thrown may quote the content that stays out of the log.
    const name = error instanceof Error ? boundString(error.name) : typeof error;
    return dropped({ count: 1, reason: "data_failed", event: type, error: name });
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

let lastAt = NaN;
let lastTimestamp = "";

/** Many events of a batch share their millisecond. */
function timestampOf(at: number): string {
  if (at !== lastAt) {
    lastTimestamp = new Date(at).toISOString();
    lastAt = at;
  }
  return lastTimestamp;
}
