/** One expression of a profile. */
export type Form =
  | { kind: "symbol"; text: string; line: number }
  | { kind: "string"; text: string; line: number }
  | { kind: "list"; items: Form[]; line: number };

export type Read = { ok: true; forms: Form[] } | { ok: false; line: number; reason: string };

/** One `(allow …)` or `(deny …)`. */
export interface Rule {
  action: "allow" | "deny";
  operations: string[];
  /** One of them is enough; none means always. */
  filters: Form[];
  /** `(with …)` */
  modifiers: Form[];
  line: number;
}

const LARGEST_TEXT = 4 * 1024 * 1024;
const DEEPEST = 32;

/** Reads the expressions of a profile: lists, symbols, `"…"` with escapes, `#"…"` without, `;` comments. */
export function readForms(text: string): Read {
  if (text.length > LARGEST_TEXT) return { ok: false, line: 1, reason: "it is too long" };
  const root: Form[] = [];
  const open: { items: Form[]; line: number }[] = [];
  let line = 1;
  let at = 0;
  const failed = (reason: string): Read => ({ ok: false, line, reason });
  const add = (form: Form) => (open.at(-1)?.items ?? root).push(form);

  while (at < text.length) {
    const char = text[at] ?? "";
    if (char === "\n") line += 1;
    if (/\s/.test(char)) {
      at += 1;
    } else if (char === ";") {
      const end = text.indexOf("\n", at);
      at = end < 0 ? text.length : end;
    } else if (char === "(") {
      if (open.length >= DEEPEST) return failed("it is nested too deeply");
      open.push({ items: [], line });
      at += 1;
    } else if (char === ")") {
      const list = open.pop();
      if (!list) return failed("a parenthesis is closed that was not opened");
      add({ kind: "list", ...list });
      at += 1;
    } else if (char === '"' || text.startsWith('#"', at)) {
      const string = readString(text, at);
      if (!string) return failed("a string does not end");
      add({ kind: "string", text: string.text, line });
      line += text.slice(at, string.end).split("\n").length - 1;
      at = string.end;
    } else {
      const symbol = /[^\s()";]+/y;
      symbol.lastIndex = at;
      const word = symbol.exec(text)?.[0];
      if (word === undefined) return failed(`${JSON.stringify(char)} is not understood`);
      add({ kind: "symbol", text: word, line });
      at += word.length;
    }
  }
  const unclosed = open.at(-1);
  return unclosed
    ? { ok: false, line: unclosed.line, reason: "a parenthesis is not closed" }
    : { ok: true, forms: root };
}

function readString(text: string, start: number): { text: string; end: number } | undefined {
  const raw = text[start] === "#";
  let value = "";
  for (let at = start + (raw ? 2 : 1); at < text.length; at++) {
    const char = text[at] ?? "";
    if (char === '"') return { text: value, end: at + 1 };
    if (char === "\\" && !raw) {
      at += 1;
      value += text[at] ?? "";
    } else {
      value += char;
    }
  }
  return undefined;
}

/** A form as a profile writes it. */
export function printForm(form: Form): string {
  switch (form.kind) {
    case "symbol":
      return form.text;
    case "string":
      return `"${form.text.replace(/[\\"]/g, "\\$&")}"`;
    case "list":
      return `(${form.items.map(printForm).join(" ")})`;
  }
}

/** The symbol that a list begins with. */
export function headOf(form: Form | undefined): string | undefined {
  const first = form?.kind === "list" ? form.items[0] : undefined;
  return first?.kind === "symbol" ? first.text : undefined;
}

/** The rules among the expressions, in their order. */
export function rulesOf(forms: readonly Form[]): Rule[] {
  const rules: Rule[] = [];
  for (const form of forms) {
    const action = headOf(form);
    if (form.kind !== "list" || (action !== "allow" && action !== "deny")) continue;
    const rest = form.items.slice(1);
    const lists = rest.filter((item) => item.kind !== "symbol");
    rules.push({
      action,
      operations: rest.flatMap((item) => item.kind === "symbol" ? [item.text] : []),
      filters: lists.filter((item) => headOf(item) !== "with"),
      modifiers: lists.filter((item) => headOf(item) === "with"),
      line: form.line,
    });
  }
  return rules;
}
