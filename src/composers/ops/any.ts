import { always, dropNone, type Op } from "./op.ts";

/** Fires on every matching event, with that event. */
export function anyOp(): Op {
  return {
    stateless: true,
    waitsFrom: "first",
    atTtl: "evict",
    begins: always,
    keeps: always,
    take: () => "fire",
    trim: dropNone,
  };
}
