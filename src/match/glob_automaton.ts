import type { CodeRange, GlobToken } from "./glob_pattern.ts";

const MAX_CODE = 0x10ffff;

/**
 * Matches any glob by running all its places at once, 32 to a word: work is at most the value's length times the
 * pattern's length over 32, and nothing is allocated per call.
 */
export function globAutomaton(tokens: readonly GlobToken[]): (value: string) => boolean {
  const places = tokens.filter((token) => token.kind !== "star");
  const words = Math.floor(places.length / 32) + 1;
  // Bit i of a state: the first i places have been matched. A star before place i lets state i stay.
  const stays = new Int32Array(words);
  let passed = 0;
  for (const token of tokens) {
    if (token.kind === "star") setBit(stays, 0, passed);
    else passed += 1;
  }
  const classes = codeClasses(places, words);
  const state = new Int32Array(words);
  const lastWord = places.length >>> 5;
  const lastBit = 1 << (places.length & 31);

  return (value) => {
    state.fill(0);
    state[0] = 1;
    for (let at = 0; at < value.length; at += 1) {
      const code = value.codePointAt(at) ?? 0;
      if (code > 0xffff) at += 1;
      const row = classes.rowOf(code) * words;
      let carry = 0;
      let alive = 0;
      for (let word = 0; word < words; word += 1) {
        const now = state[word] ?? 0;
        const next = (((now << 1) | carry) & (classes.masks[row + word] ?? 0)) | (now & (stays[word] ?? 0));
        carry = now >>> 31;
        state[word] = next;
        alive |= next;
      }
      if (alive === 0) return false;
    }
    return ((state[lastWord] ?? 0) & lastBit) !== 0;
  };
}

/** Code points that no place tells apart share a row of masks; bit i+1 of a mask: place i takes this code point. */
function codeClasses(places: readonly GlobToken[], words: number) {
  const accepted = places.map(acceptedRanges);
  const starts = new Set([0]);
  for (const [low, high] of accepted.flat()) {
    starts.add(low);
    starts.add(high + 1);
  }
  const bounds = [...starts].sort((a, b) => a - b);
  const masks = new Int32Array(bounds.length * words);
  accepted.forEach((ranges, place) => {
    for (const [low, high] of ranges) {
      for (let row = lastAtOrBelow(bounds, low); (bounds[row] ?? Infinity) <= high; row += 1) {
        setBit(masks, row * words, place + 1);
      }
    }
  });
  const ascii = Array.from({ length: 128 }, (_, code) => lastAtOrBelow(bounds, code));
  return { masks, rowOf: (code: number) => ascii[code] ?? lastAtOrBelow(bounds, code) };
}

function acceptedRanges(token: GlobToken): readonly CodeRange[] {
  switch (token.kind) {
    case "literal":
      return [[token.code, token.code]];
    case "any":
    case "star":
      return [[0, MAX_CODE]];
    case "set":
      return token.negated ? complement(token.ranges) : token.ranges;
  }
}

function complement(ranges: readonly CodeRange[]): CodeRange[] {
  const gaps: CodeRange[] = [];
  let next = 0;
  for (const [low, high] of [...ranges].sort((a, b) => a[0] - b[0])) {
    if (low > next) gaps.push([next, low - 1]);
    next = Math.max(next, high + 1);
  }
  if (next <= MAX_CODE) gaps.push([next, MAX_CODE]);
  return gaps;
}

function lastAtOrBelow(sorted: readonly number[], value: number): number {
  let low = 0;
  let high = sorted.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((sorted[middle] ?? Infinity) <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

function setBit(bits: Int32Array, offset: number, bit: number): void {
  const word = offset + (bit >>> 5);
  bits[word] = (bits[word] ?? 0) | (1 << (bit & 31));
}
