/** Random choices that a seed repeats. */
export interface Random {
  /** At least 0, below 1. */
  next(): number;
  /** A whole number, at least 0, below `end`. */
  below(end: number): number;
  chance(probability: number): boolean;
  pick<T>(list: readonly [T, ...T[]]): T;
  bytes(count: number): Uint8Array;
  /** An independent source for a part of the work, so that parts repeat alone. */
  fork(part: number): Random;
}

/** mulberry32: small, fast, and good enough to choose what to break. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (end: number) => Math.floor(next() * end);
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick: (list) => list[below(list.length)] ?? list[0],
    bytes: (count) => Uint8Array.from({ length: count }, () => below(256)),
    fork: (part) => createRandom(Math.imul(seed ^ 0x9e3779b9, part + 0x85ebca6b) ^ part),
  };
}
