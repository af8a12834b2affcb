import { escapeVisible } from "../errors/escape_visible.ts";
import { MAX_DEPTH, type Run, spend } from "./budget.ts";
import { RenderFault } from "./problem.ts";
import type { Value } from "./values.ts";

/**
 * Controls, line and paragraph separators, marks that turn the direction of text, invisible characters, halves of
 * surrogate pairs. The joiners U+200C and U+200D stay: scripts and emoji need them.
 */
const UNSAFE =
  /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;
/** The same set, without the state of a global pattern. */
const HAS_UNSAFE = new RegExp(UNSAFE.source, "u");
const LETTERS: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/**
 * Text from outside in one line: a newline as `\n`, `\r` and `\t` likewise, every other control, direction or invisible
 * character as `\u{…}`. Backslashes stay as they are.
 */
export function escapeOutside(text: string): string {
  if (!HAS_UNSAFE.test(text)) return text;
  return text.replace(UNSAFE, (char) => LETTERS[char] ?? escapeVisible(char));
}

/** A value from outside with every text in it escaped, keys too; the value itself where there is nothing to escape. */
export function escapeDeep(run: Run, value: Value, depth = 0): Value {
  if (typeof value === "string") return escapeOutside(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) throw new RenderFault("a value is nested too deeply");
  if (Array.isArray(value)) {
    spend(run, value.length);
    const items = value.map((item) => escapeDeep(run, item, depth + 1));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  const pairs = Object.entries(value);
  spend(run, pairs.length);
  const escaped = pairs.map((
    [key, each],
  ): [string, Value] => [escapeOutside(key), escapeDeep(run, each, depth + 1)]);
  const same = escaped.every(([key, each], index) => key === pairs[index]?.[0] && each === pairs[index][1]);
  return same ? value : Object.fromEntries(escaped);
}

const FORGED = /\[(?=hook:)(?<=[\n\v\f\r\x85\u2028\u2029][ \t]*\[)/gi;

/** No line after the first may begin with `[hook:`, which would read as another hook's message: it gets a backslash. */
export function refuseForgery(text: string): string {
  return text.includes("[") ? text.replace(FORGED, "\\[") : text;
}
