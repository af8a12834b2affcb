import { always, buffer, dropNone, type Op } from "./op.ts";

/**
 * Fires when the inputs have been matched in their declared order. A matching event out of order throws the progress
 * away, and may itself be the first of a new round.
 *
 * @param inputs how many inputs it has
 */
export function seqOp(inputs: number): Op {
  return {
    stateless: false,
    waitsFrom: "first",
    atTtl: "evict",
    begins: (matched) => matched.includes(0),
    keeps: always,
    take(pending, event, matched) {
      const place = pending.events.length;
      if (!matched.includes(place)) return "lost";
      buffer(pending, event, matched);
      return place + 1 === inputs ? "fire" : "kept";
    },
    trim: dropNone,
  };
}
