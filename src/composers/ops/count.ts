import { always, buffer, dropFirst, type Op } from "./op.ts";

/** Fires on the n-th matching event, with all n; then it counts from the beginning. */
export function countOp(threshold: number): Op {
  return {
    stateless: false,
    waitsFrom: "first",
    atTtl: "evict",
    begins: always,
    keeps: always,
    take(pending, event, matched) {
      buffer(pending, event, matched);
      return pending.events.length >= threshold ? "fire" : "kept";
    },
    trim: dropFirst,
  };
}
