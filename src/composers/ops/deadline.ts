import { buffer, dropNone, type Op } from "./op.ts";

/** Place of `until` behind the only input, `on`. */
export const UNTIL = 1;

/**
 * Fires when `until` has not come within the ttl of `on`. A further `on` while it is armed changes nothing. An event
 * that is both disarms, and never arms.
 */
export function deadlineOp(): Op {
  return {
    stateless: false,
    waitsFrom: "first",
    atTtl: "fire",
    begins: (matched) => !matched.includes(UNTIL),
    keeps: (matched) => !matched.includes(UNTIL),
    take(pending, event, matched) {
      if (matched.includes(UNTIL)) return "disarmed";
      if (pending.events.length > 0) return "ignored";
      buffer(pending, event, matched);
      return "kept";
    },
    trim: dropNone,
  };
}
