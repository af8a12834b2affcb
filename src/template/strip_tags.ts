import { type Run, spendChars } from "./budget.ts";
import { splitSpace } from "./strings.ts";

const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\xa0",
};

/** Removes comments and tags, makes each run of white space one space, and reads the commonest character references. */
export function stripTags(run: Run, text: string): string {
  spendChars(run, text);
  const plain = splitSpace(cut(cut(text, "<!--", "-->"), "<", ">")).join(" ");
  return plain.replace(/&(#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-z]{2,4});/g, (whole, name: string) => {
    if (!name.startsWith("#")) return NAMED[name] ?? whole;
    const code = /^#[xX]/.test(name) ? parseInt(name.slice(2), 16) : Number(name.slice(1));
    if (code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return "\ufffd";
    // A reference may stand for a control character; from outside it is escaped like one.
    return run.outside(String.fromCodePoint(code));
  });
}

/** Takes out everything from each `open` to the next `close`; an `open` without one stays. */
function cut(text: string, open: string, close: string): string {
  const kept: string[] = [];
  let at = 0;
  for (;;) {
    const start = text.indexOf(open, at);
    const end = start < 0 ? -1 : text.indexOf(close, start + open.length);
    if (start < 0 || end < 0) break;
    kept.push(text.slice(at, start));
    at = end + close.length;
  }
  return kept.join("") + text.slice(at);
}
