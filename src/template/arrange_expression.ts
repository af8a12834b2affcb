import { SourceFault } from "./problem.ts";
import type { Token } from "./tokens.ts";

/** A token of `@huggingface/jinja`, with what its parser carries along but does not look at. */
export interface LibraryToken {
  type: string;
  value: string;
  /** Offset into the source. */
  at: number;
  /** Offset of the bracket that it stands directly in, -1 if none. */
  group: number;
}

export type MarkKind = "name" | "test" | "not_test" | "pseudo";

/** A name as an identifier that the parser takes for no keyword and that still tells its kind and place. */
export function mark(kind: MarkKind, name: string, at: number): LibraryToken {
  return { type: "Identifier", value: `${kind}:${at}:${name}`, at, group: -1 };
}

/** Undoes `mark`; null for a bare keyword that stands where a value is wanted. */
export function unmark(value: string): { kind: string; name: string; at: number } | null {
  const [kind, at, name] = value.split(":");
  return kind === undefined || at === undefined || name === undefined ? null : { kind, name, at: Number(at) };
}

export function open(tag: string, at: number, out: LibraryToken[]): void {
  out.push({ type: "OpenStatement", value: "{%", at, group: -1 }, {
    type: "Identifier",
    value: tag,
    at,
    group: -1,
  });
}

export function close(at: number, out: LibraryToken[]): void {
  out.push({ type: "CloseStatement", value: "%}", at, group: -1 });
}

const KEYWORDS = new Set(["and", "or", "not", "in", "is", "if", "else"]);
const TYPES: Readonly<Record<string, string>> = {
  "(": "OpenParen",
  ")": "CloseParen",
  "[": "OpenSquareBracket",
  "]": "CloseSquareBracket",
  "{": "OpenCurlyBracket",
  "}": "CloseCurlyBracket",
  ",": "Comma",
  ".": "Dot",
  ":": "Colon",
  "|": "Pipe",
  "=": "Equals",
  "+": "AdditiveBinaryOperator",
  "-": "AdditiveBinaryOperator",
  "~": "AdditiveBinaryOperator",
  "*": "MultiplicativeBinaryOperator",
  "/": "MultiplicativeBinaryOperator",
  "//": "MultiplicativeBinaryOperator",
  "%": "MultiplicativeBinaryOperator",
  "**": "ExponentiationBinaryOperator",
};

/** Where the writing of one expression stands. */
interface Walk {
  tokens: readonly Token[];
  brackets: Brackets;
  out: LibraryToken[];
  end: number;
  /** Whether what was written last can be the left side of an operator. */
  operand: boolean;
  /** Index of the test's name that an `is` announced, and whether `not` stood before it. */
  test: number;
  negated: boolean;
  /** How many brackets, opened here for the argument of a test, close behind a token. */
  closing: Map<number, number>;
  /** Indexes of the brackets that close a tuple. */
  tupleEnds: Set<number>;
}

/**
 * Writes one expression for the library's parser. `x is [not] test arg` becomes a filter with a marked name, `(a, b)`
 * and a bare `a, b` become a list with a filter that makes a tuple of it; values without an operator or a comma between,
 * which the parser would let pass, are refused. `as`: a bare comma makes a tuple of a value, and separates arguments.
 */
export function arrangeExpression(
  tokens: readonly Token[],
  end: number,
  out: LibraryToken[],
  as: "value" | "arguments" = "value",
): void {
  const [first] = tokens;
  if (!first) throw new SourceFault("a value is missing", end);
  const brackets = pairBrackets(tokens);
  const walk: Walk = {
    tokens,
    brackets,
    out,
    end,
    operand: false,
    test: -1,
    negated: false,
    closing: new Map(),
    tupleEnds: new Set(),
  };
  const tuple = as === "value" && brackets.commas.has(-1);
  if (tuple) openTuple(first.at, out);
  tokens.forEach((token, index) => {
    if (token.kind === "operator") writeOperator(walk, token, index);
    else if (token.kind === "name") writeName(walk, token, index);
    else writeLiteral(walk, token, index);
    for (let count = walk.closing.get(index) ?? 0; count > 0; count -= 1) {
      put(walk, "CloseParen", ")", token.at);
      walk.operand = true;
    }
  });
  if (tuple) closeTuple(end, out);
}

function put(walk: Walk, type: string, value: string, at: number, index = -1): void {
  walk.out.push({ type, value, at, group: walk.brackets.inside[index] ?? -1 });
}

function writeLiteral(walk: Walk, token: Token, index: number): void {
  const continues = token.kind === "string" && walk.tokens[index - 1]?.kind === "string";
  if (walk.operand && !continues) throw adjacent(token);
  put(walk, token.kind === "string" ? "StringLiteral" : "NumericLiteral", token.text, token.at);
  walk.operand = true;
}

function writeName(walk: Walk, token: Token, index: number): void {
  const { tokens, out } = walk;
  const { text, at } = token;
  if (index === walk.test) {
    out.push(mark(walk.negated ? "not_test" : "test", text, at));
    walk.operand = true;
    writeTestArgument(walk, index + 1);
  } else if (
    isOperator(tokens[index - 1], ".") || isOperator(tokens[index - 1], "|") ||
    isOperator(tokens[index + 1], "=")
  ) {
    if (walk.operand) throw adjacent(token);
    out.push(mark("name", text, at));
    walk.operand = true;
  } else if (text === "is" && walk.operand) {
    put(walk, "Pipe", "|", at);
    walk.negated = tokens[index + 1]?.kind === "name" && tokens[index + 1]?.text === "not";
    walk.test = walk.negated ? index + 2 : index + 1;
    const name = tokens[walk.test];
    if (name?.kind !== "name") throw new SourceFault("`is` wants the name of a test", name?.at ?? walk.end);
  } else if (walk.negated && index === walk.test - 1) {
    // This `not` is part of the mark of the test that follows.
  } else if (text === "not" && walk.operand) {
    if (tokens[index + 1]?.kind !== "name" || tokens[index + 1]?.text !== "in") throw adjacent(token);
  } else if (text === "in" && walk.operand) {
    const negated = tokens[index - 1]?.kind === "name" && tokens[index - 1]?.text === "not";
    put(walk, "ComparisonBinaryOperator", negated ? "not in" : "in", at, index);
    walk.operand = false;
  } else if (KEYWORDS.has(text)) {
    if (!walk.operand && text !== "not") throw new SourceFault(`unexpected \`${text}\``, at);
    put(walk, "Identifier", text, at, index);
    walk.operand = false;
  } else {
    if (walk.operand) throw adjacent(token);
    out.push(mark("name", text, at));
    walk.operand = true;
  }
}

/** An argument without brackets (`is divisibleby 3`) gets them. */
function writeTestArgument(walk: Walk, index: number): void {
  const token = walk.tokens[index];
  if (token?.kind === "name" && token.text === "is") {
    throw new SourceFault("tests cannot follow each other", token.at);
  }
  if (!token || !beginsArgument(token)) return;
  put(walk, "OpenParen", "(", token.at);
  const last = endOfOperand(walk.tokens, index, walk.brackets.partner) - 1;
  walk.closing.set(last, (walk.closing.get(last) ?? 0) + 1);
  walk.operand = false;
}

function writeOperator(walk: Walk, token: Token, index: number): void {
  const { text, at } = token;
  const partner = walk.brackets.partner.get(index);
  if (text === "(" && !walk.operand && partner !== undefined) {
    if (partner === index + 1 || walk.brackets.commas.has(index)) {
      walk.tupleEnds.add(partner);
      openTuple(at, walk.out);
      return;
    }
  }
  if (text === "{" && walk.operand) throw adjacent(token);
  walk.operand = ")]}".includes(text);
  if (walk.tupleEnds.has(index)) closeTuple(at, walk.out);
  else put(walk, TYPES[text] ?? "ComparisonBinaryOperator", text, at, index);
}

function isOperator(token: Token | undefined, text: string): boolean {
  return token?.kind === "operator" && token.text === text;
}

function openTuple(at: number, out: LibraryToken[]): void {
  out.push({ type: "OpenParen", value: "(", at, group: -1 }, {
    type: "OpenSquareBracket",
    value: "[",
    at,
    group: -1,
  });
}

function closeTuple(at: number, out: LibraryToken[]): void {
  out.push({ type: "CloseSquareBracket", value: "]", at, group: -1 }, {
    type: "Pipe",
    value: "|",
    at,
    group: -1,
  });
  out.push(mark("pseudo", "tuple", at), { type: "CloseParen", value: ")", at, group: -1 });
}

function adjacent(token: Token): SourceFault {
  const shown = token.kind === "string" ? "a string" : `\`${token.text}\``;
  return new SourceFault(`unexpected ${shown}: an operator or a comma is missing before it`, token.at);
}

function beginsArgument(token: Token): boolean {
  if (token.kind === "name") return !KEYWORDS.has(token.text);
  return token.kind !== "operator" || token.text === "[" || token.text === "{";
}

/** Behind the value that begins here, with its attributes, items and calls. */
function endOfOperand(tokens: readonly Token[], start: number, partner: ReadonlyMap<number, number>): number {
  let at = start + 1;
  if (tokens[start]?.kind === "string") { while (tokens[at]?.kind === "string") at += 1; }
  else if (partner.has(start)) at = (partner.get(start) ?? start) + 1;
  for (let token = tokens[at]; token?.kind === "operator"; token = tokens[at]) {
    if (token.text === ".") at += 2;
    else if (token.text === "[" || token.text === "(") at = (partner.get(at) ?? at) + 1;
    else break;
  }
  return Math.min(at, tokens.length);
}

interface Brackets {
  partner: ReadonlyMap<number, number>;
  commas: ReadonlySet<number>;
  inside: readonly number[];
}

/** Which bracket closes which, which hold a comma directly, and the innermost bracket's offset of every token. */
function pairBrackets(tokens: readonly Token[]): Brackets {
  const partner = new Map<number, number>();
  const commas = new Set<number>();
  const inside: number[] = [];
  const openings: number[] = [];
  tokens.forEach((token, index) => {
    const bracket = token.kind === "operator" ? token.text : "";
    if (bracket !== "" && ")]}".includes(bracket)) partner.set(openings.pop() ?? -1, index);
    const innermost = openings.at(-1) ?? -1;
    inside.push(tokens[innermost]?.at ?? -1);
    if (bracket === ",") commas.add(innermost);
    if (bracket !== "" && "([{".includes(bracket)) openings.push(index);
  });
  return { partner, commas, inside };
}
