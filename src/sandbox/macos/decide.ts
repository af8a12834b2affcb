import { namesOf } from "./operations.ts";
import { type Form, headOf, type Rule } from "./reader.ts";

/** What a process asks the kernel for. */
export interface Request {
  /** A concrete operation. */
  operation: string;
  /** The file, or the address of a Unix socket. */
  path?: string;
  /** Of a service or a sysctl. */
  name?: string;
  /** Whose process it is about. */
  target?: "self" | "same-sandbox" | "others";
  /** Kind of the socket. */
  socket?: "ip" | "unix-socket";
  /** Family of a system socket. */
  domain?: string;
}

/**
 * How rules are weighed. Sources agree that the last match wins among rules of one name, and differ on a family against its members:
 * `narrowest_name` looks for a member's own rules first, whatever their order; `last_match` goes by order alone.
 */
export type Weighing = "narrowest_name" | "last_match";

export type Decision = "allow" | "deny";

export function decide(rules: readonly Rule[], request: Request, weighing: Weighing): Decision {
  const names = namesOf(request.operation);
  switch (weighing) {
    case "last_match":
      return lastMatch(rules, names, request) ?? "deny";
    case "narrowest_name":
      for (const name of names) {
        const decision = lastMatch(rules, [name], request);
        if (decision) return decision;
      }
      return "deny";
  }
}

/** What is so in either weighing; undefined when they differ. */
export function decideSurely(rules: readonly Rule[], request: Request): Decision | undefined {
  const first = decide(rules, request, "narrowest_name");
  return first === decide(rules, request, "last_match") ? first : undefined;
}

function lastMatch(rules: readonly Rule[], names: readonly string[], request: Request): Decision | undefined {
  const found = rules.findLast((rule) =>
    rule.operations.some((operation) => names.includes(operation)) &&
    (rule.filters.length === 0 || rule.filters.some((filter) => matches(filter, request, rule.action)))
  );
  return found?.action;
}

/** Of a filter that is not known the worst is assumed: an allowance matches, a denial does not. */
function matches(filter: Form, request: Request, action: Decision): boolean {
  const argument = filter.kind === "list" ? filter.items[1] : undefined;
  const text = argument?.kind === "string" ? argument.text : undefined;
  const word = argument?.kind === "symbol" ? argument.text : undefined;
  const { path, name, target, socket, domain } = request;
  switch (headOf(filter)) {
    case "literal":
      return path !== undefined && path === text;
    case "subpath":
      return path !== undefined && text !== undefined && liesIn(path, text);
    case "regex":
      return path !== undefined && text !== undefined && regexMatches(text, path, action);
    case "global-name":
    case "sysctl-name":
      return name !== undefined && name === text;
    case "sysctl-name-prefix":
      return name !== undefined && text !== undefined && name.startsWith(text);
    case "target":
      return target !== undefined && (word === target || (word === "same-sandbox" && target === "self"));
    case "remote":
    case "local":
      return socket !== undefined && word === socket;
    case "socket-domain":
      return domain !== undefined && word === domain;
    case "require-all":
      return conditions(filter).every((item) => matches(item, request, action));
    case "require-any":
      return conditions(filter).some((item) => matches(item, request, action));
    case "require-not":
      return argument !== undefined && !matches(argument, request, action === "allow" ? "deny" : "allow");
    default:
      return action === "allow";
  }
}

function conditions(filter: Form): Form[] {
  return filter.kind === "list" ? filter.items.slice(1) : [];
}

const MOST_EXPRESSIONS = 1000;
const expressions = new Map<string, RegExp>();

/** Folders match by whole components. */
function liesIn(file: string, folder: string): boolean {
  if (folder === "/") return file.startsWith("/");
  return file.startsWith(folder) && (file.length === folder.length || file[folder.length] === "/");
}

function regexMatches(source: string, file: string, action: Decision): boolean {
  try {
    let compiled = expressions.get(source);
    if (!compiled) {
      if (expressions.size >= MOST_EXPRESSIONS) expressions.clear();
      expressions.set(source, compiled = new RegExp(source));
    }
    return compiled.test(file);
  } catch {
    return action === "allow";
  }
}
