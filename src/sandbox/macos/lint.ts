import { Buffer } from "node:buffer";
import { isKnownOperation, namesOf, READS, WHOLE_FAMILIES } from "./operations.ts";
import { type Form, headOf, printForm, readForms, type Rule, rulesOf } from "./reader.ts";
import { LONGEST_STRING, spellings } from "./spellings.ts";

export type LintCode =
  | "unreadable"
  | "version"
  | "default"
  | "import"
  | "form"
  | "operation"
  | "filter"
  | "modifier"
  | "order"
  | "open"
  | "string"
  | "path"
  | "regex"
  | "spelling"
  | "members"
  | "literal";

export interface LintFinding {
  code: LintCode;
  /** Of the profile's text, from 1. */
  line: number;
  message: string;
}

/** Operations that may be allowed without a condition: their denials come later, or there is nothing to tell apart. */
const MAY_BE_OPEN = new Set(["process-exec*", "file-read*", "file-map-executable", "process-fork"]);
const PATH_FILTERS = new Set(["literal", "subpath"]);
const FILTERS: Readonly<Record<string, "string" | "words" | "filters">> = {
  "literal": "string",
  "subpath": "string",
  "regex": "string",
  "global-name": "string",
  "sysctl-name": "string",
  "sysctl-name-prefix": "string",
  "target": "words",
  "remote": "words",
  "local": "words",
  "socket-domain": "words",
  "require-all": "filters",
  "require-any": "filters",
  "require-not": "filters",
};
/** What folders' contents are matched by: anchored, and with nothing that reads differently in another kind of expression. */
const PLAIN_REGEX = /^\^(?:[^\\^$.*+?()[\]{}|]|\\[\\^$.*+?()[\]{}|])*\/\[\^\/\]\+\$$/;

/** What is wrong with a profile by its text alone. */
export function lintProfile(text: string): LintFinding[] {
  const read = readForms(text);
  if (!read.ok) return [{ code: "unreadable", line: read.line, message: read.reason }];
  const rules = rulesOf(read.forms);
  return [...lintForms(read.forms), ...lintOrder(rules), ...rules.flatMap(lintRule)];
}

function lintForms(forms: readonly Form[]): LintFinding[] {
  const found: LintFinding[] = [];
  const [first] = forms;
  if (!first || printForm(first) !== "(version 1)") {
    found.push({ code: "version", line: 1, message: "(version 1) must come first" });
  }
  forms.forEach((form, index) => {
    const head = headOf(form);
    if (head === "allow" || head === "deny" || (head === "version" && index === 0)) return;
    const at = { line: form.line };
    if (head === "import") {
      found.push({ code: "import", ...at, message: "what an import allows does not stand here" });
    } else {
      found.push({ code: "form", ...at, message: `${printForm(form)} is no rule` });
    }
  });
  return found;
}

function lintOrder(rules: readonly Rule[]): LintFinding[] {
  const found: LintFinding[] = [];
  const [first, ...rest] = rules;
  const isDefault = (rule: Rule) => rule.operations.includes("default");
  const isClosed = first?.action === "deny" && first.operations.join() === "default" &&
    first.filters.length === 0;
  if (!isClosed) {
    found.push({ code: "default", line: first?.line ?? 1, message: "the first rule must be (deny default)" });
  }
  for (const rule of rest) {
    if (isDefault(rule)) {
      found.push({ code: "default", line: rule.line, message: "the default is set a second time" });
    }
  }
  const firstDenial = rest.findIndex((rule) => rule.action === "deny");
  rest.forEach((rule, index) => {
    if (firstDenial >= 0 && index > firstDenial && rule.action === "allow") {
      found.push({ code: "order", line: rule.line, message: "an allowance after a denial outranks it" });
    }
  });
  return found;
}

function lintRule(rule: Rule): LintFinding[] {
  const { action, operations, filters, modifiers, line } = rule;
  const found: LintFinding[] = [];
  const say = (code: LintCode, message: string) => found.push({ code, line, message });
  if (operations.length === 0) say("operation", "it names no operation");
  for (const name of operations) {
    if (!isKnownOperation(name)) say("operation", `${name} is not known`);
    if (action === "allow" && filters.length === 0 && !MAY_BE_OPEN.has(name)) {
      say("open", `${name} is allowed without a condition`);
    }
    if (action === "deny") {
      const members = WHOLE_FAMILIES.find(({ family }) => family === name)?.members ?? [];
      const missing = members.filter((member) => !operations.includes(member));
      if (missing.length > 0) {
        say("members", `${name} is denied but not ${missing.join(", ")}, which an allowance may name`);
      }
    }
  }
  for (const { family, members } of action === "deny" ? WHOLE_FAMILIES : []) {
    if (!operations.includes(family) && members.every((member) => operations.includes(member))) {
      say("members", `each known member of ${family} is denied but not the family`);
    }
  }
  for (const modifier of modifiers) say("modifier", `${printForm(modifier)} changes what the rule does`);
  for (const filter of filters) found.push(...lintFilter(filter));
  if (action === "deny") found.push(...lintPaths(rule));
  return found;
}

function lintFilter(filter: Form): LintFinding[] {
  const found: LintFinding[] = [];
  const say = (code: LintCode, message: string) => found.push({ code, line: filter.line, message });
  const head = headOf(filter);
  const kind = head === undefined ? undefined : FILTERS[head];
  if (filter.kind !== "list" || head === undefined || kind === undefined) {
    say("filter", `${printForm(filter)} is not known`);
    return found;
  }
  const rest = filter.items.slice(1);
  if (kind === "filters") {
    if (rest.length === 0 || (head === "require-not" && rest.length !== 1)) {
      say("filter", `${head} has the wrong number of conditions`);
    }
    return [...found, ...rest.flatMap((item) => lintFilter(item))];
  }
  const [first] = rest;
  if (kind === "words") {
    if (first?.kind !== "symbol") say("filter", `${head} needs a word`);
    return found;
  }
  if (rest.length !== 1 || first?.kind !== "string") {
    say("filter", `${head} needs one string`);
    return found;
  }
  const { text } = first;
  if (/\p{Cc}/u.test(text)) say("string", "a string has a control character");
  if (Buffer.byteLength(text) > LONGEST_STRING) say("string", `a string is over ${LONGEST_STRING} bytes`);
  if (head === "regex" && !PLAIN_REGEX.test(text)) {
    say("regex", `${printForm(first)} does not match what is directly in one folder`);
  }
  if (PATH_FILTERS.has(head)) {
    if (!isPlain(text)) say("path", `${printForm(first)} is not an absolute, plain path`);
  }
  return found;
}

function lintPaths({ operations, filters, line }: Rule): LintFinding[] {
  const found: LintFinding[] = [];
  const stringOf = (filter: Form, name: string) => {
    const item = headOf(filter) === name && filter.kind === "list" ? filter.items[1] : undefined;
    return item?.kind === "string" ? [item.text] : [];
  };
  const folders = filters.flatMap((filter) => stringOf(filter, "subpath"));
  for (const folder of folders) {
    const missing = spellings(folder).find((place) => !folders.includes(place));
    if (missing !== undefined) {
      found.push({ code: "spelling", line, message: `${folder} is denied but not ${missing}` });
    }
  }
  const readsFiles = operations.some((name) => namesOf(name).includes(READS[0]));
  const literals = filters.flatMap((filter) => stringOf(filter, "literal"));
  if (readsFiles && literals.length > 0) {
    const message = `literal ${literals[0]} denies a folder without what is in it`;
    found.push({ code: "literal", line, message });
  }
  return found;
}

function isPlain(file: string): boolean {
  return file === "/" || /^(?:\/(?!\.{1,2}(?:\/|$))[^/]+)+$/.test(file);
}
