import { always, buffer, type Op, type Pending } from "./op.ts";

/**
 * Fires when every input has been matched at least once, in any order; further events of an input are buffered too.
 * With a key, it is `correlate_by`.
 *
 * @param inputs how many inputs it has
 */
export function allOp(inputs: number): Op {
  return {
    stateless: false,
    waitsFrom: "first",
    atTtl: "evict",
    begins: always,
    keeps: always,
    take(pending, event, matched) {
      buffer(pending, event, matched);
      if (pending.seen.length === 0) {
        pending.seen = new Array<number>(inputs).fill(0);
        pending.missing = inputs;
      }
      for (let at = 0; at < matched.length; at++) {
        const input = matched[at] as number;
        const before = pending.seen[input] ?? 0;
        pending.seen[input] = before + 1;
        if (before === 0) pending.missing -= 1;
      }
      return pending.missing === 0 ? "fire" : "kept";
    },
    trim: dropRedundant,
  };
}

/** Drops the oldest event whose inputs are matched by others too, so that no input goes missing again. */
function dropRedundant(pending: Pending): boolean {
  const { events, matched, seen } = pending;
  const at = matched.findIndex((inputs) => inputs.every((input) => (seen[input] ?? 0) > 1));
  if (at === -1) return false;
  pending.bytes -= events[at]?.size ?? 0;
  for (const input of matched[at] ?? []) seen[input] = (seen[input] ?? 1) - 1;
  if (at === 0) {
    events.shift();
    matched.shift();
  } else {
    events.splice(at, 1);
    matched.splice(at, 1);
  }
  return true;
}
