import { SourceFault } from "./problem.ts";
import { SPACE_CLASS } from "./strings.ts";
import { MAX_NESTING } from "./syntax.ts";
import { readNumber, readString } from "./literals.ts";
import type { Literal, Piece, Token } from "./tokens.ts";

const SPACE = `[${SPACE_CLASS}]`;
const SPACES = new RegExp(`${SPACE}*`, "y");
const TRAILING_SPACES = new RegExp(`${SPACE}+$`);
const RAW_BEGIN = new RegExp(`\\{%([-+]?)${SPACE}*raw${SPACE}*(-?)%\\}`, "y");
const RAW_END = new RegExp(`\\{%([-+]?)${SPACE}*endraw${SPACE}*([-+]?)%\\}`, "g");
const NAME = /[\p{L}\p{Nl}\p{Pc}][\p{L}\p{Nl}\p{Mn}\p{Mc}\p{Nd}\p{Pc}]*/uy;
const OPERATOR = /\/\/|\*\*|[=!<>]=|[-+*/%~[\](){}<>=.:|,]/y;
const CLOSES: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };

/**
 * Cuts a source into text and tags by Jinja2's lexical rules: `-` at a delimiter strips, comments vanish, raw blocks
 * are text, line ends become `\n`, one at the end is dropped. (The parser library's own lexer has no places and no raw
 * blocks.)
 */
export function scan(source: string): Piece[] {
  const pieces: Piece[] = [];
  const end = source.endsWith("\r\n")
    ? source.length - 2
    : /[\r\n]$/.test(source)
    ? source.length - 1
    : source.length;
  const src = source.slice(0, end);
  let at = 0;
  while (at < src.length) {
    const open = findOpening(src, at);
    if (open < 0) {
      pushText(pieces, src.slice(at), false);
      break;
    }
    RAW_BEGIN.lastIndex = open;
    const raw = RAW_BEGIN.exec(src);
    const sign = raw ? raw[1] : src[open + 2];
    pushText(pieces, src.slice(at, open), sign === "-");
    if (raw) at = readRaw(src, open, raw, pieces);
    else if (src[open + 1] === "#") at = skipComment(src, open);
    else at = readTag(src, open, pieces);
  }
  return pieces;
}

function findOpening(src: string, from: number): number {
  for (let at = src.indexOf("{", from); at >= 0; at = src.indexOf("{", at + 1)) {
    const next = src[at + 1];
    if (next === "{" || next === "%" || next === "#") return at;
  }
  return -1;
}

function pushText(pieces: Piece[], raw: string, strip: boolean): void {
  const text = (strip ? raw.replace(TRAILING_SPACES, "") : raw).replace(/\r\n?/g, "\n");
  if (text !== "") pieces.push({ kind: "text", text });
}

function skipSpaces(src: string, at: number): number {
  SPACES.lastIndex = at;
  SPACES.exec(src);
  return SPACES.lastIndex;
}

function readRaw(src: string, open: number, begin: RegExpExecArray, pieces: Piece[]): number {
  let start = open + begin[0].length;
  if (begin[2] === "-") start = skipSpaces(src, start);
  RAW_END.lastIndex = start;
  const end = RAW_END.exec(src);
  if (!end) throw new SourceFault("`{% raw %}` is not closed", open);
  pushText(pieces, src.slice(start, end.index), end[1] === "-");
  const after = end.index + end[0].length;
  return end[2] === "-" ? skipSpaces(src, after) : after;
}

function skipComment(src: string, open: number): number {
  const signed = src[open + 2] === "-" || src[open + 2] === "+";
  const start = open + (signed ? 3 : 2);
  const end = src.indexOf("#}", start);
  if (end < 0) throw new SourceFault("`{#` is not closed", open);
  return end > start && src[end - 1] === "-" ? skipSpaces(src, end + 2) : end + 2;
}

function readTag(src: string, open: number, pieces: Piece[]): number {
  const kind = src[open + 1] === "{" ? "output" : "tag";
  const signed = src[open + 2] === "-" || src[open + 2] === "+";
  const tokens: Token[] = [];
  const awaited: string[] = [];
  let at = open + (signed ? 3 : 2);
  for (;;) {
    at = skipSpaces(src, at);
    if (at >= src.length) throw new SourceFault(`\`${src.slice(open, open + 2)}\` is not closed`, open);
    if (awaited.length === 0) {
      const closing = closingAt(src, at, kind);
      if (closing > 0) {
        pieces.push({ kind, tokens, at: open, end: at });
        return src[at] === "-" ? skipSpaces(src, at + closing) : at + closing;
      }
    }
    const token = readToken(src, at, tokens.at(-1));
    if (token.kind === "operator") balance(awaited, token);
    tokens.push({ kind: token.kind, text: token.text, at });
    at = token.end;
  }
}

/** Length of the closing delimiter that stands here, or 0. */
function closingAt(src: string, at: number, kind: "output" | "tag"): number {
  const signed = src[at] === "-" || (kind === "tag" && src[at] === "+");
  const close = kind === "output" ? "}}" : "%}";
  if (src.startsWith(close, signed ? at + 1 : at)) return signed ? 3 : 2;
  return 0;
}

function balance(awaited: string[], token: Literal & { at: number }): void {
  const closes = CLOSES[token.text];
  if (closes !== undefined) {
    awaited.push(closes);
    if (awaited.length > MAX_NESTING) throw new SourceFault("brackets are nested too deeply", token.at);
  } else if (")]}".includes(token.text) && awaited.pop() !== token.text) {
    throw new SourceFault(`unexpected \`${token.text}\``, token.at);
  }
}

function readToken(src: string, at: number, previous: Token | undefined): Literal & { at: number } {
  const afterDot = previous?.text === "." && previous.kind === "operator";
  const literal = readString(src, at) ?? readNumber(src, at, afterDot);
  if (literal) return { ...literal, at };
  NAME.lastIndex = at;
  const name = NAME.exec(src);
  if (name) return { kind: "name", text: name[0], end: NAME.lastIndex, at };
  OPERATOR.lastIndex = at;
  const operator = OPERATOR.exec(src);
  if (operator) return { kind: "operator", text: operator[0], end: OPERATOR.lastIndex, at };
  throw new SourceFault(`unexpected ${JSON.stringify(String.fromCodePoint(src.codePointAt(at) ?? 0))}`, at);
}
