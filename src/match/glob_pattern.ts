/** One place of a glob: a literal code point, any code point, one of a set, or any run of code points. */
export type GlobToken =
  | { kind: "literal"; code: number }
  | { kind: "any" }
  | { kind: "set"; negated: boolean; ranges: readonly CodeRange[] }
  | { kind: "star" };

/** Both ends belong to it. */
export type CodeRange = readonly [low: number, high: number];

const STAR = 0x2a;
const QUESTION = 0x3f;
const OPEN = 0x5b;
const CLOSE = 0x5d;
const BANG = 0x21;
const HYPHEN = 0x2d;

/** Reads a pattern as Python's `fnmatch` does; every string is a pattern. Runs of stars become one. */
export function parseGlob(pattern: string): GlobToken[] {
  const codes = Array.from(pattern, (char) => char.codePointAt(0) ?? 0);
  const tokens: GlobToken[] = [];
  let at = 0;
  while (at < codes.length) {
    const code = codes[at] ?? 0;
    at += 1;
    if (code === STAR) {
      if (tokens.at(-1)?.kind !== "star") tokens.push({ kind: "star" });
    } else if (code === QUESTION) {
      tokens.push({ kind: "any" });
    } else if (code === OPEN) {
      const end = endOfSet(codes, at);
      if (end < 0) {
        tokens.push({ kind: "literal", code });
      } else {
        tokens.push(readSet(codes.slice(at, end)));
        at = end + 1;
      }
    } else {
      tokens.push({ kind: "literal", code });
    }
  }
  return tokens;
}

/** Index of the `]` that ends the set whose first element is at `start`, or -1. A `]` in first place is an element. */
function endOfSet(codes: readonly number[], start: number): number {
  let at = start;
  if (codes[at] === BANG) at += 1;
  if (codes[at] === CLOSE) at += 1;
  return codes.indexOf(CLOSE, at);
}

function readSet(body: readonly number[]): GlobToken {
  const chunks = withoutEmptyRanges(splitAtRanges(body));
  const first = chunks[0] ?? [];
  const negated = first[0] === BANG;
  if (negated) chunks[0] = first.slice(1);
  const ranges: CodeRange[] = [];
  chunks.forEach((chunk, index) => {
    const previous = chunks[index - 1]?.at(-1);
    const [low, ...rest] = chunk;
    if (index > 0 && previous !== undefined && low !== undefined) {
      ranges.push([previous, low]);
      for (const code of rest) ranges.push([code, code]);
    } else {
      for (const code of chunk) ranges.push([code, code]);
    }
  });
  if (negated && ranges.length === 0) return { kind: "any" };
  return { kind: "set", negated, ranges };
}

/** Cuts at each hyphen that makes a range: the last of one chunk and the first of the next are its ends. */
function splitAtRanges(body: readonly number[]): number[][] {
  const chunks: number[][] = [];
  let start = 0;
  let from = body[0] === BANG ? 2 : 1;
  for (;;) {
    const hyphen = body.indexOf(HYPHEN, from);
    if (hyphen < 0) break;
    chunks.push(body.slice(start, hyphen));
    start = hyphen + 1;
    from = hyphen + 3;
  }
  const last = body.slice(start);
  const before = chunks.at(-1);
  if (last.length > 0 || !before) chunks.push(last);
  else before.push(HYPHEN);
  return chunks;
}

/** A range whose ends are the wrong way round is empty; both ends go, as in Python since 3.10. */
function withoutEmptyRanges(chunks: number[][]): number[][] {
  for (let index = chunks.length - 1; index > 0; index -= 1) {
    const before = chunks[index - 1] ?? [];
    const here = chunks[index] ?? [];
    if ((before.at(-1) ?? 0) > (here[0] ?? 0)) {
      chunks[index - 1] = [...before.slice(0, -1), ...here.slice(1)];
      chunks.splice(index, 1);
    }
  }
  return chunks;
}
