import { item } from "./access.ts";
import { type Run, spend } from "./budget.ts";
import { isInteger, Undefined, type Value } from "./values.ts";

/** What the `attribute` argument of a filter picks: `"a.b.0"`, or an index. None: the item itself. */
export function attributeGetter(
  run: Run,
  path: Value,
  absent?: Value,
  after?: (value: Value) => Value,
): (value: Value) => Value {
  const keys = keysOf(path);
  return (value) => {
    spend(run, 1);
    let found = value;
    for (const key of keys) {
      found = item(run, found, key);
      if (absent !== undefined && absent !== null && found instanceof Undefined) found = absent;
    }
    return after ? after(found) : found;
  };
}

/** Several of them, commas between: the values to sort by. */
export function attributesGetter(
  run: Run,
  paths: Value,
  after: (value: Value) => Value,
): (value: Value) => Value[] {
  const each = typeof paths === "string" ? paths.split(",") : [paths];
  const getters = each.map((path) => attributeGetter(run, path, undefined, after));
  return (value) => getters.map((get) => get(value));
}

function keysOf(path: Value): Value[] {
  if (typeof path === "string") {
    return path.split(".").map((part) => /^\d+$/.test(part) ? Number(part) : part);
  }
  return path === undefined || path === null ? [] : [isInteger(path) ? Number(path) : path];
}

/** Texts compare by their lower case where case does not count. */
export function caseFolder(caseSensitive: boolean): (value: Value) => Value {
  return caseSensitive
    ? (value) => value
    : (value) => typeof value === "string" ? value.toLowerCase() : value;
}
