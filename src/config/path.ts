import { quote } from "../errors/quote.ts";
import type { Path } from "./section.ts";

/** A path in the operator's notation: `hooks[1].matcher`, with odd keys quoted: `agents["a b"]`. */
export function formatPath(path: Path): string {
  let text = "";
  for (const key of path) {
    if (typeof key === "number") text += `[${key}]`;
    else if (!/^[\w-]+$/.test(key)) text += `[${quote(key)}]`;
    else text += text === "" ? key : `.${key}`;
  }
  return text;
}

/** The value at a path through own keys only; undefined where there is none. */
export function valueAt(value: unknown, path: Path): unknown {
  let at = value;
  for (const key of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<string | number, unknown>)[key];
  }
  return at;
}

export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
