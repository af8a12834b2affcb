import { alwaysBegins, dropFirst, type Op } from "./op.ts";

/** Fires on every matching event, with that event. */
export function anyOp(): Op {
  return {
    stateless: true,
    waitsFrom: "first",
    atTtl: "evict",
    begins: alwaysBegins,
    take: () => "fire",
    trim: dropFirst,
  };
}
