import { escapeVisible } from "../errors/escape_visible.ts";

/** What a shell takes as it stands. */
const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;

/**
 * An argv as a person would type it, each word quoted for a shell where it must be. A word with characters that a terminal
 * would obey or hide (escape sequences, newlines, bidirectional marks) is written `$'…'` with them as `\u{…}`; a word that holds such
 * an escape as plain text keeps its plain quotes, so that two different argvs never look the same.
 */
export function shownCommand(argv: readonly string[]): string {
  return argv.map(shownWord).join(" ");
}

function shownWord(word: string): string {
  if (PLAIN.test(word)) return word;
  if (escapeVisible(word) === word) return `'${word.replaceAll("'", `'"'"'`)}'`;
  return `$'${escapeVisible(word.replace(/[\\']/g, "\\$&"))}'`;
}
