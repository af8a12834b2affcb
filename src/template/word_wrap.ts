import { type Run, spend, spendItems } from "./budget.ts";
import { RenderFault } from "./problem.ts";
import { charCount, charsOf, splitLines } from "./strings.ts";

export interface WrapOptions {
  /** Longest line, in characters. */
  width: number;
  breakLongWords: boolean;
  breakOnHyphens: boolean;
}

/** The lines of a text, each wrapped as Python's `textwrap.wrap` does. */
export function wordWrap(run: Run, text: string, options: WrapOptions): string[] {
  spend(run, text.length >>> 1);
  if (options.width <= 0) throw new RenderFault(`invalid width ${options.width} (must be > 0)`);
  const lines = splitLines(text);
  spendItems(run, lines.length);
  return lines.map((line) => wrapLine(chunksOf(line, options.breakOnHyphens), options).join("\n")).flatMap((
    wrapped,
  ) => wrapped.split("\n"));
}

function wrapLine(chunks: string[], { width, breakLongWords, breakOnHyphens }: WrapOptions): string[] {
  const lines: string[] = [];
  const waiting = chunks.reverse();
  while (waiting.length > 0) {
    const line: string[] = [];
    let length = 0;
    if (isBlank(waiting.at(-1)) && lines.length > 0) waiting.pop();
    for (let next = waiting.at(-1); next !== undefined; next = waiting.at(-1)) {
      const size = charCount(next);
      if (length + size > width) break;
      line.push(next);
      waiting.pop();
      length += size;
    }
    const long = waiting.at(-1);
    if (long !== undefined && charCount(long) > width) {
      if (breakLongWords) breakWord(line, waiting, long, width - length, breakOnHyphens);
      else if (line.length === 0) line.push(waiting.pop() ?? "");
    }
    if (isBlank(line.at(-1))) line.pop();
    if (line.length > 0) lines.push(line.join(""));
  }
  return lines;
}

/** Puts as much of a word that is too long as fits onto the line, up to a hyphen if there is one. */
function breakWord(
  line: string[],
  waiting: string[],
  long: string,
  space: number,
  breakOnHyphens: boolean,
): void {
  const chars = charsOf(long);
  let end = Math.max(1, space);
  if (breakOnHyphens && chars.length > space) {
    const hyphen = chars.slice(0, Math.max(0, space)).lastIndexOf("-");
    if (hyphen > 0 && chars.slice(0, hyphen).some((char) => char !== "-")) end = hyphen + 1;
  }
  line.push(chars.slice(0, end).join(""));
  waiting[waiting.length - 1] = chars.slice(end).join("");
}

function isBlank(chunk: string | undefined): boolean {
  return chunk !== undefined && /^[\t\n\v\f\r ]*$/.test(chunk);
}

const SPACE = /[\t\n\v\f\r ]/;
const WORD = /[\p{L}\p{N}_]/u;
const LETTER = /[\p{L}_]/u;
const PUNCTUATION = /[\p{L}\p{N}_!"'&.,?]/u;

/** Cuts a line at white space and, if asked, behind hyphens inside of words and around dashes. */
function chunksOf(line: string, breakOnHyphens: boolean): string[] {
  const chars = charsOf(line);
  const is = (pattern: RegExp, at: number) => at >= 0 && at < chars.length && pattern.test(chars[at] ?? "");
  // How many hyphens begin here.
  const hyphens = new Int32Array(chars.length + 1);
  for (let at = chars.length - 1; at >= 0; at -= 1) {
    hyphens[at] = chars[at] === "-" ? (hyphens[at + 1] ?? 0) + 1 : 0;
  }
  const run = (at: number) => hyphens[at] ?? 0;
  const dashAt = (at: number) => run(at) >= 2 && is(WORD, at + run(at)) && is(PUNCTUATION, at - 1);
  const endsWord = (end: number) => {
    if (end >= chars.length || is(SPACE, end)) return true;
    if (!breakOnHyphens) return false;
    if (dashAt(end)) return true;
    if (chars[end - 1] !== "-") return false;
    const before = (is(LETTER, end - 2) && is(LETTER, end - 3)) ||
      (is(PUNCTUATION, end - 2) && chars[end - 3] === "-" && is(LETTER, end - 4));
    return before && is(LETTER, end) &&
      (is(LETTER, end + 1) || (chars[end + 1] === "-" && is(LETTER, end + 2)));
  };
  const chunks: string[] = [];
  for (let start = 0; start < chars.length;) {
    let end = start + 1;
    if (is(SPACE, start)) { while (is(SPACE, end)) end += 1; }
    else if (breakOnHyphens && dashAt(start)) end = start + run(start);
    else while (!endsWord(end)) end += 1;
    chunks.push(chars.slice(start, end).join(""));
    start = end;
  }
  return chunks;
}
