import { globAutomaton } from "./glob_automaton.ts";
import { type GlobToken, parseGlob } from "./glob_pattern.ts";

/**
 * Compiles a glob with the meaning of Python's `fnmatch.fnmatchcase`: the whole value must match, case counts, `*`
 * crosses `/`, `?` and sets take one code point, an unclosed `[` is itself. Never backtracks.
 */
export function compileGlob(pattern: string): (value: string) => boolean {
  const tokens = parseGlob(pattern);
  const pieces = literalPieces(tokens);
  // Half a surrogate pair would be found inside a whole one when searched for as a string.
  if (!pieces || /\p{Cs}/u.test(pattern)) return guarded(tokens);
  const first = pieces[0] ?? "";
  const last = pieces.at(-1) ?? "";
  if (pieces.length === 1) return (value) => value === first;
  const inner = pieces.slice(1, -1);
  if (inner.length > 0) return inOrder(first, inner, last);
  if (last === "") {
    return first === "" ? () => true : (value) => value.length >= first.length && standsAt(value, first, 0);
  }
  const shortest = first.length + last.length;
  return (value) => {
    const end = value.length - last.length;
    return value.length >= shortest && standsAt(value, last, end) && standsAt(value, first, 0);
  };
}

/** What the operator should know about a pattern that matches otherwise than it looks; undefined if nothing. */
export function globWarning(pattern: string): string | undefined {
  if (!pattern.includes("/**/")) return undefined;
  const shorter = pattern.replace("/**/", "/*");
  return `\`/**/\` does not mean zero folders: \`*\` crosses \`/\`, and \`/a/**/b\` needs both slashes; ` +
    `\`${shorter}\` also matches without a folder between`;
}

/** The texts between the stars, or null where something else than text and stars is in the pattern. */
function literalPieces(tokens: readonly GlobToken[]): string[] | null {
  const pieces = [""];
  for (const token of tokens) {
    if (token.kind === "star") pieces.push("");
    else if (token.kind === "literal") pieces[pieces.length - 1] += String.fromCodePoint(token.code);
    else return null;
  }
  return pieces;
}

/** Each inner piece is taken where it first occurs behind the one before: no later place could do better. */
function inOrder(first: string, inner: readonly string[], last: string): (value: string) => boolean {
  const shortest = first.length + last.length + inner.reduce((sum, piece) => sum + piece.length, 0);
  return (value) => {
    const end = value.length - last.length;
    if (value.length < shortest || !standsAt(value, last, end) || !standsAt(value, first, 0)) return false;
    let at = first.length;
    for (const piece of inner) {
      const found = value.indexOf(piece, at);
      if (found < 0) return false;
      at = found + piece.length;
      if (at > end) return false;
    }
    return true;
  };
}

/** The automaton behind a check of the text that the value must begin with, which settles most values. */
function guarded(tokens: readonly GlobToken[]): (value: string) => boolean {
  const run = globAutomaton(tokens);
  const stop = tokens.findIndex((token) => token.kind !== "literal");
  const prefix = literalPieces(tokens.slice(0, stop < 0 ? tokens.length : stop))?.[0] ?? "";
  return prefix === ""
    ? run
    : (value) => value.length >= prefix.length && standsAt(value, prefix, 0) && run(value);
}

/** From its end, where paths differ first; the value is long enough. Quicker than `startsWith` for texts this short. */
function standsAt(value: string, text: string, at: number): boolean {
  for (let index = text.length - 1; index >= 0; index -= 1) {
    if (value.charCodeAt(at + index) !== text.charCodeAt(index)) return false;
  }
  return true;
}
