import { RenderFault } from "./problem.ts";

const SURROGATE = /[\ud800-\udfff]/;

/** The code points of a text, which are Python's characters. */
export function charsOf(text: string): string[] {
  return SURROGATE.test(text) ? Array.from(text) : text.split("");
}

export function charCount(text: string): number {
  if (!SURROGATE.test(text)) return text.length;
  let count = 0;
  for (let at = 0; at < text.length; count += 1) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return count;
}

/** The code point at an index, from the end if negative; undefined outside. */
export function charAt(text: string, index: number): string | undefined {
  if (!SURROGATE.test(text)) return text[index < 0 ? text.length + index : index];
  let skip = index < 0 ? charCount(text) + index : index;
  for (let at = 0; skip >= 0 && at < text.length; skip -= 1) {
    const code = text.codePointAt(at) ?? 0;
    if (skip === 0) return String.fromCodePoint(code);
    at += code > 0xffff ? 2 : 1;
  }
  return undefined;
}

/** `text[start:end]` by code points, neither end negative. */
export function charSlice(text: string, start: number, end: number): string {
  return SURROGATE.test(text) ? Array.from(text).slice(start, end).join("") : text.slice(start, end);
}

/** Order of code points; UTF-16 order differs where surrogates are. */
export function compareStrings(a: string, b: string): number {
  if (a === b) return 0;
  if (!SURROGATE.test(a) && !SURROGATE.test(b)) return a < b ? -1 : 1;
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at += 1;
  if (at > 0 && /[\ud800-\udbff]/.test(a[at - 1] ?? "")) at -= 1;
  return (a.codePointAt(at) ?? -1) - (b.codePointAt(at) ?? -1);
}

export const SPACE_CLASS =
  "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const IS_SPACE = new RegExp(`[${SPACE_CLASS}]`);
const SPACE_RUN = new RegExp(`[${SPACE_CLASS}]+`);

export function isSpace(char: string | undefined): boolean {
  return char !== undefined && IS_SPACE.test(char);
}

/** Python's `strip`, at either side; without `chars`, of white space. */
export function strip(text: string, chars: string | null, side: "both" | "left" | "right"): string {
  const wanted = chars === null ? null : new Set(charsOf(chars));
  if (wanted && SURROGATE.test(chars ?? "")) {
    const all = charsOf(text);
    const [start, end] = strippedBounds(all.length, (at) => wanted.has(all[at] ?? ""), side);
    return all.slice(start, end).join("");
  }
  const [start, end] = strippedBounds(
    text.length,
    (at) => wanted ? wanted.has(text[at] ?? "") : isSpace(text[at]),
    side,
  );
  return text.slice(start, end);
}

function strippedBounds(
  length: number,
  goes: (at: number) => boolean,
  side: "both" | "left" | "right",
): [number, number] {
  let start = 0;
  let end = length;
  if (side !== "right") { while (start < end && goes(start)) start += 1; }
  if (side !== "left") { while (end > start && goes(end - 1)) end -= 1; }
  return [start, end];
}

/** Words between white space. */
export function splitSpace(text: string): string[] {
  const trimmed = strip(text, null, "both");
  return trimmed === "" ? [] : trimmed.split(SPACE_RUN);
}

const LINE_ENDS = "\\n\\r\\v\\f\\x1c-\\x1e\\x85\\u2028\\u2029";
const LINE_END = new RegExp(`\\r\\n|[${LINE_ENDS}]`);
const LINE_WITH_END = new RegExp(`[^${LINE_ENDS}]*(?:\\r\\n|[${LINE_ENDS}])|[^${LINE_ENDS}]+$`, "g");

/** Python's `splitlines()`. */
export function splitLines(text: string, keepEnds = false): string[] {
  if (keepEnds) return text.match(LINE_WITH_END) ?? [];
  const lines = text.split(LINE_END);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

const LONG_SEARCH = 1 << 22;

/**
 * Finds a text in others in time that grows with the sum of their lengths, not their product: `indexOf` where the
 * product is small, Knuth-Morris-Pratt where it is not.
 */
export function finder(needle: string): (text: string, from: number) => number {
  let table: Int32Array | null = null;
  return (text, from) => {
    if (needle.length < 2 || (text.length - from) * needle.length < LONG_SEARCH) {
      return text.indexOf(needle, from);
    }
    table ??= borders(needle);
    let matched = 0;
    for (let at = from; at < text.length; at += 1) {
      while (matched > 0 && text[at] !== needle[matched]) matched = table[matched - 1] ?? 0;
      if (text[at] === needle[matched]) matched += 1;
      if (matched === needle.length) return at + 1 - matched;
    }
    return -1;
  };
}

function borders(needle: string): Int32Array {
  const table = new Int32Array(needle.length);
  for (let at = 1, matched = 0; at < needle.length; at += 1) {
    while (matched > 0 && needle[at] !== needle[matched]) matched = table[matched - 1] ?? 0;
    if (needle[at] === needle[matched]) matched += 1;
    table[at] = matched;
  }
  return table;
}

/** `text.split(separator)`, at most `max` cuts from the left; -1: all. */
export function splitAt(text: string, separator: string, max: number): string[] {
  if (separator === "") throw new RenderFault("empty separator");
  const find = finder(separator);
  const parts: string[] = [];
  let from = 0;
  for (let cuts = 0; max < 0 || cuts < max; cuts += 1) {
    const at = find(text, from);
    if (at < 0) break;
    parts.push(text.slice(from, at));
    from = at + separator.length;
  }
  parts.push(text.slice(from));
  return parts;
}
