import { always, buffer, dropFirst, type Op } from "./op.ts";

/** Fires when the ttl has gone by since the first event, with all that came in it. */
export function windowOp(): Op {
  return {
    stateless: false,
    waitsFrom: "first",
    atTtl: "fire",
    begins: always,
    keeps: always,
    take(pending, event, matched) {
      buffer(pending, event, matched);
      return "kept";
    },
    trim: dropFirst,
  };
}
