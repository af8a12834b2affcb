import { always, dropNone, type Op } from "./op.ts";

/** Fires when the ttl has gone by since the latest event, with that event; the ones before it are forgotten. */
export function debounceOp(): Op {
  return {
    stateless: false,
    waitsFrom: "latest",
    atTtl: "fire",
    begins: always,
    keeps: always,
    take(pending, event, matched) {
      pending.events[0] = event;
      pending.matched[0] = matched;
      pending.bytes = event.size;
      return "kept";
    },
    trim: dropNone,
  };
}
