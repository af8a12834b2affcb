import { charsOf } from "./strings.ts";

const CASED = /\p{Cased}/u;
const UPPER = /\p{Uppercase}/u;
const LOWER = /\p{Lowercase}/u;

/** First character in title case, the rest in lower case. */
export function capitalize(text: string): string {
  const first = text.slice(0, (text.codePointAt(0) ?? 0) > 0xffff ? 2 : 1);
  return titleOf(first) + text.slice(first.length).toLowerCase();
}

/** Python's `str.title()`: every letter behind a letter is lower, every other upper. */
export function titleCase(text: string): string {
  let inWord = false;
  return charsOf(text).map((char) => {
    const cased = CASED.test(char);
    const shown = !cased ? char : inWord ? char.toLowerCase() : titleOf(char);
    inWord = cased;
    return shown;
  }).join("");
}

/** The upper case of a character, where that is several of them only the first in upper case. */
export function titleOf(char: string): string {
  const [first = "", ...rest] = charsOf(char.toUpperCase());
  return first + rest.join("").toLowerCase();
}

export function swapCase(text: string): string {
  return charsOf(text).map((char) => UPPER.test(char) ? char.toLowerCase() : char.toUpperCase()).join("");
}

export function isLower(text: string): boolean {
  return LOWER.test(text) && !/[\p{Uppercase}\p{Lt}]/u.test(text);
}

export function isUpper(text: string): boolean {
  return UPPER.test(text) && !/[\p{Lowercase}\p{Lt}]/u.test(text);
}

/** Upper case letters begin words only, lower case ones never do. */
export function isTitle(text: string): boolean {
  let inWord = false;
  let found = false;
  for (const char of text) {
    const upper = UPPER.test(char) || /\p{Lt}/u.test(char);
    const lower = LOWER.test(char);
    if ((upper && inWord) || (lower && !inWord)) return false;
    inWord = upper || lower;
    found ||= inWord;
  }
  return found;
}

export const isAlpha = (text: string) => /^\p{L}+$/u.test(text);
export const isAlnum = (text: string) => /^[\p{L}\p{N}]+$/u.test(text);
export const isDecimal = (text: string) => /^\p{Nd}+$/u.test(text);
export const isNumeric = (text: string) => /^\p{N}+$/u.test(text);
export const isAscii = (text: string) => !/[^\p{ASCII}]/u.test(text);
export const isIdentifier = (text: string) => /^[\p{ID_Start}_]\p{ID_Continue}*$/u.test(text);
export const isPrintable = (text: string) => !/[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u.test(text);
