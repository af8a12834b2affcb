import {
  bounded,
  made,
  MAX_OUTPUT_BYTES,
  type Run,
  spend,
  spendChars,
  spendSearch,
  spendText,
} from "./budget.ts";
import { RenderFault } from "./problem.ts";
import { charCount, charsOf, finder, isSpace, splitAt, splitSpace, strip } from "./strings.ts";

/** Python's `replace`; `times` -1: all. */
export function replaceText(run: Run, text: string, old: string, replacement: string, times: number): string {
  spendSearch(run, old);
  // Between characters there is room for more replacements than anyone needs.
  if (old === "") spend(run, text.length);
  const most = times < 0 ? Infinity : times;
  const parts = old === "" ? charPieces(text, most) : splitAt(text, old, times);
  if ((parts.length - 1) * replacement.length > MAX_OUTPUT_BYTES) {
    throw new RenderFault("a text grows too long");
  }
  spend(run, parts.length >>> 4);
  return made(run, parts.join(replacement));
}

/** Cuts before every character and behind the last, as many as asked for. */
function charPieces(text: string, most: number): string[] {
  const pieces = ["", ...charsOf(text), ""];
  const kept = Math.min(most, pieces.length - 1);
  return [...pieces.slice(0, kept), pieces.slice(kept).join("")];
}

/** Python's `split` and `rsplit`; no separator: at runs of white space. `max` -1: everywhere. */
export function splitText(
  run: Run,
  text: string,
  separator: string | null,
  max: number,
  fromRight: boolean,
): string[] {
  spendSearch(run, separator ?? "");
  if (fromRight || separator === null) spendChars(run, text);
  const parts = separator === null
    ? max < 0 ? splitSpace(text) : splitSpaceAtMost(text, max, fromRight)
    : fromRight && max >= 0
    ? splitFromRight(text, separator, max)
    : splitAt(text, separator, max);
  spend(run, parts.length);
  return parts;
}

function splitFromRight(text: string, separator: string, max: number): string[] {
  const all = splitAt(reversed(text), reversed(separator), max);
  return all.map(reversed).reverse();
}

function splitSpaceAtMost(text: string, max: number, fromRight: boolean): string[] {
  if (fromRight) return splitSpaceAtMost(reversed(text), max, false).map(reversed).reverse();
  const parts: string[] = [];
  let rest = strip(text, null, "left");
  while (rest !== "" && parts.length < max) {
    let end = 0;
    while (end < rest.length && !isSpace(rest[end])) end += 1;
    parts.push(rest.slice(0, end));
    rest = strip(rest.slice(end), null, "left");
  }
  if (rest !== "") parts.push(strip(rest, null, "right"));
  return parts;
}

export function reversed(text: string): string {
  return charsOf(text).reverse().join("");
}

/** Index, in characters, of the first or last place of `part` within `[start, end)`; -1 if there is none. */
export function findText(
  run: Run,
  text: string,
  part: string,
  start: number,
  end: number,
  last: boolean,
): number {
  spendSearch(run, part);
  spendChars(run, text);
  const chars = charsOf(text);
  const from = clampIndex(start, chars.length);
  const to = clampIndex(end, chars.length);
  if (from > to || start > chars.length) return -1;
  const slice = chars.slice(from, to).join("");
  const at = last ? lastIndex(slice, part) : finder(part)(slice, 0);
  return at < 0 ? -1 : from + charCount(slice.slice(0, at));
}

function lastIndex(text: string, part: string): number {
  const at = finder(reversedUnits(part))(reversedUnits(text), 0);
  return at < 0 ? -1 : text.length - at - part.length;
}

function reversedUnits(text: string): string {
  return text.split("").reverse().join("");
}

export function clampIndex(index: number, length: number): number {
  return Math.min(Math.max(index < 0 ? index + length : index, 0), length);
}

/** How often `part` occurs, without overlaps. */
export function countText(run: Run, text: string, part: string): number {
  spendSearch(run, part);
  return part === "" ? charCount(text) + 1 : splitAt(text, part, -1).length - 1;
}

/** Pads to `width` characters. */
export function padText(
  run: Run,
  text: string,
  width: number,
  fill: string,
  side: "left" | "right" | "both",
): string {
  if (charCount(fill) !== 1) throw new RenderFault("the fill character must be exactly one character long");
  const missing = bounded(width, "a width") - charCount(text);
  if (missing <= 0) return text;
  const left = side === "left" ? missing : side === "right" ? 0 : (missing >> 1) + (missing & width & 1);
  return made(run, fill.repeat(left) + text + fill.repeat(missing - left));
}

export function zeroFill(run: Run, text: string, width: number): string {
  const sign = /^[-+]/.test(text) ? text.slice(0, 1) : "";
  return sign + padText(run, text.slice(sign.length), width - sign.length, "0", "left");
}

/** Tabs as spaces up to the next column that is a multiple of `size`. */
export function expandTabs(run: Run, text: string, size: number): string {
  bounded(size, "a tab size");
  spendChars(run, text);
  if (text.split("\t").length * Math.max(1, size) > MAX_OUTPUT_BYTES) {
    throw new RenderFault("a text grows too long");
  }
  let column = 0;
  const expanded = charsOf(text).map((char) => {
    if (char === "\n" || char === "\r") column = 0;
    else if (char !== "\t") column += 1;
    else if (size <= 0) return "";
    else {
      const width = size - (column % size);
      column += width;
      return " ".repeat(width);
    }
    return char;
  });
  return made(run, expanded.join(""));
}

/** Joins texts, once it is known that the result is not too long. */
export function joinTexts(run: Run, parts: readonly string[], separator: string): string {
  let length = separator.length * Math.max(0, parts.length - 1);
  for (const part of parts) length += part.length;
  spendText(run, length);
  return parts.join(separator);
}
