/** A piece of TypeScript source; comments and white space are gone, a template without `${` counts as a string. */
export interface Token {
  kind: "word" | "string" | "punctuation" | "number" | "regex" | "template";
  /** The text; of a string what stands between its quotes, escapes as written. */
  text: string;
  /** 1-based. */
  line: number;
}

/** After these words an expression begins, so that `/` starts a regular expression. */
const BEFORE_EXPRESSION = new Set(
  "return typeof instanceof in of new delete void throw case do else yield await extends default".split(" "),
);

const WORD_START = /[\p{ID_Start}$_#@]/u;
const WORD_PART = /[\p{ID_Continue}$\u200c\u200d]/u;

/** Splits source into tokens, well enough to find words and imports; it never fails on source that compiles. */
export function tokenize(source: string): Token[] {
  const tokens: Token[] = [];
  /** For each open brace, whether it closes a `${` of a template. */
  const braces: boolean[] = [];
  let at = source.startsWith("#!") ? lineEnd(source, 0) : 0;
  let line = 1;

  const push = (kind: Token["kind"], text: string, startLine: number) =>
    tokens.push({ kind, text, line: startLine });
  const countLines = (text: string) => {
    for (const char of text) if (char === "\n") line++;
  };
  const take = (end: number): string => {
    const text = source.slice(at, end);
    countLines(text);
    at = end;
    return text;
  };
  /** Reads template text up to its closing backtick or the next `${`. */
  const template = (opening: boolean) => {
    const startLine = line;
    let end = at;
    while (end < source.length && source[end] !== "`" && !(source[end] === "$" && source[end + 1] === "{")) {
      end += source[end] === "\\" ? 2 : 1;
    }
    const text = take(end);
    if (source[end] === "`") {
      at++;
      push(opening ? "string" : "template", text, startLine);
    } else {
      at += 2;
      braces.push(true);
      push("template", text, startLine);
    }
  };

  while (at < source.length) {
    const char = source[at] ?? "";
    const next = source[at + 1];
    if (char === "\n" || /\s/.test(char)) take(at + 1);
    else if (char === "/" && next === "/") at = lineEnd(source, at);
    else if (char === "/" && next === "*") {
      const end = source.indexOf("*/", at + 2);
      take(end < 0 ? source.length : end + 2);
    } else if (char === '"' || char === "'") {
      const startLine = line;
      let end = at + 1;
      while (end < source.length && source[end] !== char && source[end] !== "\n") {
        end += source[end] === "\\" ? 2 : 1;
      }
      push("string", take(end).slice(1), startLine);
      at++;
    } else if (char === "`") {
      at++;
      template(true);
    } else if (char === "{") {
      braces.push(false);
      push("punctuation", take(at + 1), line);
    } else if (char === "}") {
      at++;
      if (braces.pop()) template(false);
      else push("punctuation", "}", line);
    } else if (char === "/" && startsRegex(tokens.at(-1))) {
      push("regex", take(regexEnd(source, at)), line);
    } else if (/[0-9]/.test(char)) {
      push("number", take(wordEnd(source, at)), line);
    } else if (WORD_START.test(char)) {
      push("word", take(wordEnd(source, at + 1)), line);
    } else push("punctuation", take(at + 1), line);
  }
  return tokens;
}

function lineEnd(source: string, from: number): number {
  const end = source.indexOf("\n", from);
  return end < 0 ? source.length : end;
}

function wordEnd(source: string, from: number): number {
  let end = from;
  while (end < source.length && WORD_PART.test(source[end] ?? "")) end++;
  return end;
}

/** A `/` divides after a value and opens a regular expression elsewhere; `)` and `}` are taken for the end of a value. */
function startsRegex(previous: Token | undefined): boolean {
  if (!previous) return true;
  if (previous.kind === "word") return BEFORE_EXPRESSION.has(previous.text);
  return previous.kind === "punctuation" && ![")", "]", "}"].includes(previous.text);
}

function regexEnd(source: string, from: number): number {
  let end = from + 1;
  let inClass = false;
  while (end < source.length && source[end] !== "\n") {
    const char = source[end];
    if (char === "\\") end++;
    else if (char === "[") inClass = true;
    else if (char === "]") inClass = false;
    else if (char === "/" && !inClass) return wordEnd(source, end + 1);
    end++;
  }
  return from + 1;
}
