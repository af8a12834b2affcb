/** Control, format (bidi, zero-width, tags), line and paragraph separators, and halves of surrogate pairs. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/**
 * The text with every character that a terminal would obey or hide written as `\u{…}`, newline and tab included, so
 * that text from outside can neither move the cursor nor read differently from what it is.
 */
export function escapeVisible(text: string): string {
  return text.replace(INVISIBLE, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}
