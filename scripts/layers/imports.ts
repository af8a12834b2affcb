import { type Token, tokenize } from "./tokens.ts";

export interface Import {
  specifier: string;
  /** 1-based line of the specifier. */
  line: number;
  kind: "static" | "re-export" | "dynamic" | "require";
}

/** Every module that source names: imports, type imports, re-exports, `import()` and `require()` of a literal. */
export function findImports(source: string | readonly Token[]): Import[] {
  const tokens = typeof source === "string" ? tokenize(source) : source;
  const found: Import[] = [];
  const add = (token: Token | undefined, kind: Import["kind"]): boolean => {
    if (token?.kind !== "string") return false;
    found.push({ specifier: token.text, line: token.line, kind });
    return true;
  };
  tokens.forEach((token, index) => {
    if (token.kind !== "word" || isProperty(tokens, index)) return;
    const next = tokens[index + 1];
    if (token.text === "import") {
      if (next?.text === "(") add(tokens[index + 2], "dynamic");
      else if (next?.text !== ".") add(sourceOfClause(tokens, index), "static");
    } else if (token.text === "export" && opensList(tokens, index)) {
      add(sourceOfClause(tokens, index), "re-export");
    } else if (token.text === "require" && next?.text === "(") add(tokens[index + 2], "require");
  });
  return found;
}

/** `x.import`, `{ import: … }`, `import?: …` are names, not keywords. */
function isProperty(tokens: readonly Token[], index: number): boolean {
  const before = tokens[index - 1];
  const after = tokens[index + 1];
  if (before?.kind === "punctuation" && before.text === ".") return true;
  return after?.kind === "punctuation" && (after.text === ":" || after.text === "?");
}

function opensList(tokens: readonly Token[], index: number): boolean {
  const first = tokens[index + 1];
  const second = tokens[index + 2];
  const starts = (token: Token | undefined) =>
    token?.kind === "punctuation" && (token.text === "*" || token.text === "{");
  return starts(first) || (first?.text === "type" && starts(second));
}

/** The string of an import or export clause: right behind the keyword, or behind `from`. */
function sourceOfClause(tokens: readonly Token[], keyword: number): Token | undefined {
  let depth = 0;
  for (let index = keyword + 1; index < tokens.length; index++) {
    const token = tokens[index];
    const previous = tokens[index - 1];
    if (!token) return undefined;
    if (token.kind === "string") {
      if (index === keyword + 1) return token;
      if (depth === 0) return previous?.text === "from" ? token : undefined;
    } else if (token.kind === "punctuation") {
      if (token.text === "{") depth++;
      else if (token.text === "}") depth--;
      else if (token.text !== "," && token.text !== "*") return undefined;
    } else if (token.kind !== "word") return undefined;
    else if (depth === 0 && previous?.text === "}" && token.text !== "from") return undefined;
  }
  return undefined;
}
