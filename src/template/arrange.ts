import {
  arrangeExpression,
  close as closeTag,
  type LibraryToken,
  mark,
  open as openTag,
} from "./arrange_expression.ts";
import { SourceFault, unknownName } from "./problem.ts";
import type { Piece, Token } from "./tokens.ts";
import { MAX_NESTING } from "./syntax.ts";

const ELSEWHERE = new Set([
  "include",
  "import",
  "from",
  "extends",
  "block",
  "macro",
  "call",
  "autoescape",
  "do",
  "trans",
  "break",
  "continue",
  "debug",
]);
const TAGS = [
  "if",
  "elif",
  "else",
  "endif",
  "for",
  "endfor",
  "set",
  "endset",
  "filter",
  "endfilter",
  "with",
  "endwith",
];

interface Block {
  tag: string;
  at: number;
  sawElse: boolean;
}

/**
 * Puts a scanned template into the tokens that the library's parser reads, so that it parses what Jinja2 would: tests,
 * tuples, loop conditions, `with` and `filter` blocks are written in forms that it has, tags are checked here.
 */
export function arrange(pieces: readonly Piece[]): LibraryToken[] {
  const out: LibraryToken[] = [];
  const blocks: Block[] = [];
  for (const piece of pieces) {
    if (piece.kind === "text") {
      out.push({ type: "Text", value: piece.text, at: -1, group: -1 });
    } else if (piece.kind === "output") {
      out.push({ type: "OpenExpression", value: "{{", at: piece.at, group: -1 });
      arrangeExpression(piece.tokens, piece.end, out);
      out.push({ type: "CloseExpression", value: "}}", at: piece.end, group: -1 });
    } else {
      arrangeTag(piece.tokens, piece.at, piece.end, blocks, out);
    }
  }
  const unclosed = blocks.at(-1);
  if (unclosed) throw new SourceFault(`\`{% ${unclosed.tag} %}\` is not closed`, unclosed.at);
  return out;
}

function arrangeTag(
  tokens: readonly Token[],
  at: number,
  end: number,
  blocks: Block[],
  out: LibraryToken[],
): void {
  const [word, ...rest] = tokens;
  if (!word || word.kind !== "name") throw new SourceFault("a tag begins with its name", word?.at ?? end);
  const tag = word.text;
  if (!TAGS.includes(tag)) {
    if (ELSEWHERE.has(tag)) {
      throw new SourceFault(`\`{% ${tag} %}\` is not available in hook templates`, word.at, tag);
    }
    throw unknownName("tag", tag, TAGS, word.at);
  }
  keepBlocks(tag, word.at, rest, blocks);
  switch (tag) {
    case "for":
      openTag("for", at, out);
      arrangeFor(rest, end, out);
      break;
    case "set":
      openTag("set", at, out);
      arrangeSet(rest, end, out);
      break;
    case "with":
      openTag("call", at, out);
      arrangeWith(rest, word.at, end, out);
      break;
    case "filter":
      openTag("set", at, out);
      out.push(mark("pseudo", "captured", word.at), { type: "Pipe", value: "|", at: word.at, group: -1 });
      if (rest[0]?.kind !== "name") {
        throw new SourceFault("`filter` wants the name of a filter", rest[0]?.at ?? end);
      }
      arrangeExpression(rest, end, out);
      break;
    case "if":
    case "elif":
      openTag(tag, at, out);
      arrangeExpression(rest, end, out);
      break;
    default:
      if (rest[0]) throw new SourceFault(`unexpected \`${rest[0].text}\``, rest[0].at);
      openTag(tag === "endwith" ? "endcall" : tag === "endfilter" ? "endset" : tag, at, out);
  }
  closeTag(end, out);
}

/** Checks that every tag stands where it may, and that blocks close in order. */
function keepBlocks(tag: string, at: number, rest: readonly Token[], blocks: Block[]): void {
  const inner = blocks.at(-1);
  if (tag.startsWith("end")) {
    if (inner?.tag !== tag.slice(3)) {
      const wanted = inner ? `; \`{% end${inner.tag} %}\` is due` : "";
      throw new SourceFault(`\`{% ${tag} %}\` closes nothing${wanted}`, at);
    }
    blocks.pop();
  } else if (tag === "elif" || tag === "else") {
    const allowed = inner && !inner.sawElse &&
      (inner.tag === "if" || (inner.tag === "for" && tag === "else"));
    if (!allowed) throw new SourceFault(`\`{% ${tag} %}\` does not belong here`, at);
    if (tag === "else") inner.sawElse = true;
  } else if (tag !== "set" || indexAtDepthZero(rest, "=") < 0) {
    blocks.push({ tag, at, sawElse: false });
    if (blocks.length > MAX_NESTING) throw new SourceFault("blocks are nested too deeply", at);
  }
}

/** `for a, b in items if cond` becomes `for a, b in (items) if (cond)`, the condition `true` where there is none. */
function arrangeFor(tokens: readonly Token[], end: number, out: LibraryToken[]): void {
  const splitAt = indexAtDepthZero(tokens, "in");
  if (splitAt < 0) throw new SourceFault("`for` wants `in`", tokens.at(-1)?.at ?? end);
  arrangeTargets(tokens.slice(0, splitAt), tokens[splitAt]?.at ?? end, out);
  out.push({ type: "Identifier", value: "in", at: end, group: -1 });
  const rest = tokens.slice(splitAt + 1);
  const last = rest.at(-1);
  if (last?.kind === "name" && last.text === "recursive" && rest.length > 1 && rest.at(-2)?.text !== ".") {
    throw new SourceFault("`recursive` is not available in hook templates", last.at);
  }
  const conditionAt = indexAtDepthZero(rest, "if");
  const items = conditionAt < 0 ? rest : rest.slice(0, conditionAt);
  const parenthesis = (type: "OpenParen" | "CloseParen") => out.push({ type, value: "", at: end, group: -1 });
  parenthesis("OpenParen");
  arrangeExpression(items, rest[conditionAt]?.at ?? end, out);
  parenthesis("CloseParen");
  out.push({ type: "Identifier", value: "if", at: end, group: -1 });
  parenthesis("OpenParen");
  if (conditionAt < 0) out.push(mark("name", "true", end));
  else arrangeExpression(rest.slice(conditionAt + 1), end, out);
  parenthesis("CloseParen");
}

function arrangeSet(tokens: readonly Token[], end: number, out: LibraryToken[]): void {
  const equals = indexAtDepthZero(tokens, "=");
  if (equals < 0) {
    arrangeExpression(tokens, end, out);
    return;
  }
  arrangeTargets(tokens.slice(0, equals), tokens[equals]?.at ?? end, out);
  out.push({ type: "Equals", value: "=", at: end, group: -1 });
  arrangeExpression(tokens.slice(equals + 1), end, out);
}

/** `with a = 1, b = 2` becomes a call block with named arguments. */
function arrangeWith(tokens: readonly Token[], at: number, end: number, out: LibraryToken[]): void {
  out.push(mark("pseudo", "with", at), { type: "OpenParen", value: "(", at, group: -1 });
  if (tokens.length > 0) arrangeExpression(tokens, end, out, "arguments");
  out.push({ type: "CloseParen", value: ")", at: end, group: -1 });
}

/** Names and `namespace.field`s, commas between, one pair of brackets around them at most. */
function arrangeTargets(tokens: readonly Token[], end: number, out: LibraryToken[]): void {
  const bracketed = tokens[0]?.text === "(" && tokens.at(-1)?.text === ")";
  const list = bracketed ? tokens.slice(1, -1) : tokens;
  let wanted: "name" | "more" = "name";
  list.forEach((token, index) => {
    const dotted = list[index - 1]?.text === ".";
    if (token.kind === "name" && wanted === "name") {
      out.push(mark("name", token.text, token.at));
      wanted = "more";
    } else if (
      token.kind === "operator" && wanted === "more" &&
      (token.text === "," || (token.text === "." && !dotted))
    ) {
      out.push({ type: token.text === "," ? "Comma" : "Dot", value: token.text, at: token.at, group: -1 });
      wanted = "name";
    } else {
      throw new SourceFault(`cannot assign to \`${token.text}\``, token.at);
    }
  });
  if (wanted === "name") throw new SourceFault("a name is missing", end);
}

function indexAtDepthZero(tokens: readonly Token[], text: string): number {
  let depth = 0;
  return tokens.findIndex((token, index) => {
    if (token.kind === "operator" && "([{".includes(token.text)) depth += 1;
    if (token.kind === "operator" && ")]}".includes(token.text)) depth -= 1;
    return depth === 0 && token.kind !== "string" && token.text === text && tokens[index - 1]?.text !== ".";
  });
}
