import type { Audit } from "../audit/audit.ts";
import type { Clock } from "../clock/clock.ts";
import type { ApiError } from "./api_error.ts";

/** Puts on record what was refused: each kind at once, and then how often, once a while. */
export interface Refusals {
  note(error: Pick<ApiError, "status" | "code">): void;
  close(): void;
}

const PAUSE_MS = 10_000;

export function createRefusals(audit: Audit, clock: Clock): Refusals {
  const pausing = new Map<string, { more: number; tell: () => void; cancel: () => void }>();
  return {
    note({ status, code }) {
      const key = `${status} ${code}`;
      const known = pausing.get(key);
      if (known) {
        known.more += 1;
        return;
      }
      audit.emit("http_refused", null, { status, code, count: 1 });
      const entry = {
        more: 0,
        tell() {
          pausing.delete(key);
          if (entry.more > 0) audit.emit("http_refused", null, { status, code, count: entry.more });
        },
        cancel: () => {},
      };
      pausing.set(key, entry);
      entry.cancel = clock.after(PAUSE_MS, entry.tell);
    },
    close() {
      for (const { cancel, tell } of [...pausing.values()]) {
        cancel();
        tell();
      }
    },
  };
}
