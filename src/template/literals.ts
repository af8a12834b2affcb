import { SourceFault } from "./problem.ts";
import type { Literal } from "./tokens.ts";

const STRING = /'[^'\\]*(?:\\[\s\S][^'\\]*)*'|"[^"\\]*(?:\\[\s\S][^"\\]*)*"/y;
const FLOAT = /(?:\d+_)*\d+(?:(?:\.(?:\d+_)*\d+)?e[-+]?(?:\d+_)*\d+|\.(?:\d+_)*\d+)/iy;
const INTEGER = /0b(?:_?[01])+|0o(?:_?[0-7])+|0x(?:_?[\da-f])+|[1-9](?:_?\d)*|0(?:_?0)*/iy;
const ESCAPE = /\\(?:([0-7]{1,3})|x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([\s\S]))/g;
const SIMPLE: Readonly<Record<string, string>> = {
  "\n": "",
  "\\": "\\",
  "'": "'",
  '"': '"',
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

export function readString(src: string, at: number): Literal | null {
  if (src[at] !== "'" && src[at] !== '"') return null;
  STRING.lastIndex = at;
  const found = STRING.exec(src);
  if (!found) throw new SourceFault("a string is not closed", at);
  return { kind: "string", text: unescape(found[0].slice(1, -1), at + 1), end: STRING.lastIndex };
}

/** Behind a dot (`pair.0.1`) digits are an index, never a fraction. */
export function readNumber(src: string, at: number, afterDot: boolean): Literal | null {
  FLOAT.lastIndex = at;
  const float = afterDot ? null : FLOAT.exec(src);
  if (float) {
    const text = float[0].replaceAll("_", "");
    return {
      kind: "float",
      text: text.includes(".") ? text : text.replace(/e/i, ".e"),
      end: FLOAT.lastIndex,
    };
  }
  INTEGER.lastIndex = at;
  const integer = INTEGER.exec(src);
  if (!integer) return null;
  const value = Number(integer[0].replaceAll("_", "").replace(/^0+(?=0)/, ""));
  if (!Number.isSafeInteger(value)) throw new SourceFault("a number is too large", at);
  return { kind: "integer", text: String(value), end: INTEGER.lastIndex };
}

/** Python's escapes; an unknown one stays as it is written. */
function unescape(body: string, at: number): string {
  const text = body.replace(/\r\n?/g, "\n");
  return text.replace(ESCAPE, (whole, octal, hex2, hex4, hex8, other: string | undefined, offset: number) => {
    if (octal !== undefined) return String.fromCharCode(parseInt(octal, 8));
    const hex = hex2 ?? hex4 ?? hex8;
    if (hex === undefined) {
      const letter = other ?? "";
      if ("xuUN".includes(letter)) {
        throw new SourceFault(`\`\\${letter}\` is malformed or not available`, at + offset);
      }
      return SIMPLE[letter] ?? whole;
    }
    const code = parseInt(hex, 16);
    if (code > 0x10ffff) throw new SourceFault(`\`${whole}\` is no character`, at + offset);
    return String.fromCodePoint(code);
  });
}
