import { type Context, isMap, type Path, unknownKey } from "./shape.ts";
import { pattern } from "./values.ts";

/**
 * A pattern for JSON values. Scalars are equal; a map holds at least these keys; a list has the same length and
 * matches item by item. A map whose keys begin with `$` asks something else; all of its questions have to hold.
 */
const OPERATORS = [
  ...["$any", "$absent", "$regex", "$contains", "$length", "$not", "$one_of", "$exact"],
  ...["$gt", "$gte", "$lt", "$lte"],
] as const;

/** Says what is wrong with a pattern itself. */
export function checkJsonPattern(value: unknown, path: Path, context: Context): unknown {
  if (Array.isArray(value)) value.forEach((item, index) => checkJsonPattern(item, [...path, index], context));
  if (!isMap(value)) return value;
  const keys = Object.keys(value);
  const asking = keys.filter((key) => key.startsWith("$"));
  if (asking.length > 0 && asking.length < keys.length) {
    context.report(path, `keys with and without $ cannot stand together: ${keys.join(", ")}`);
  }
  for (const key of keys) {
    const below = [...path, key];
    if (key.startsWith("$") && !OPERATORS.some((operator) => operator === key)) {
      context.report(below, unknownKey(key, OPERATORS), "key");
    } else if (key === "$regex") pattern(value[key], below, context);
    else if (key !== "$exact") checkJsonPattern(value[key], below, context);
  }
  return value;
}

/** Every way in which a value differs from a pattern, each with its place; empty when it matches. */
export function jsonMismatches(actual: unknown, wanted: unknown, path = ""): string[] {
  const at = path === "" ? "value" : path;
  if (Array.isArray(wanted)) {
    if (!Array.isArray(actual)) return [`${at}: expected a list, got ${show(actual)}`];
    const items = wanted.flatMap((item, index) =>
      index < actual.length ? jsonMismatches(actual[index], item, `${path}[${index}]`) : []
    );
    if (actual.length === wanted.length) return items;
    return [`${at}: expected ${wanted.length} entries, got ${actual.length}: ${show(actual)}`, ...items];
  }
  if (isMap(wanted)) {
    const keys = Object.keys(wanted);
    if (keys.some((key) => key.startsWith("$"))) {
      return keys.flatMap((key) => askOperator(key, wanted[key], actual, at, path));
    }
    if (!isMap(actual)) return [`${at}: expected a map, got ${show(actual)}`];
    return keys.flatMap((key) => {
      const value = Object.hasOwn(actual, key) ? actual[key] : undefined;
      return jsonMismatches(value, wanted[key], path === "" ? key : `${path}.${key}`);
    });
  }
  return Object.is(actual, wanted) ? [] : [`${at}: expected ${show(wanted)}, got ${show(actual)}`];
}

export function jsonMatches(actual: unknown, wanted: unknown): boolean {
  return jsonMismatches(actual, wanted).length === 0;
}

function askOperator(
  operator: string,
  operand: unknown,
  actual: unknown,
  at: string,
  path: string,
): string[] {
  const unless = (holds: boolean, wanted: string) =>
    holds ? [] : [`${at}: expected ${wanted}, got ${show(actual)}`];
  const compare = (holds: (a: number, b: number) => boolean, sign: string) =>
    unless(
      typeof actual === "number" && typeof operand === "number" && holds(actual, operand),
      `${sign} ${show(operand)}`,
    );
  switch (operator) {
    case "$any":
      return unless(actual !== undefined, "anything");
    case "$absent":
      return unless(actual === undefined, "no such key");
    case "$regex":
      return unless(
        typeof actual === "string" && new RegExp(String(operand), "mu").test(actual),
        `a text that matches /${String(operand)}/`,
      );
    case "$contains":
      if (typeof actual === "string") {
        return unless(actual.includes(String(operand)), `a text with ${show(operand)}`);
      }
      return unless(
        Array.isArray(actual) && containsInOrder(actual, operand),
        `a list with ${show(operand)} in order`,
      );
    case "$length":
      return jsonMismatches(
        typeof actual === "string" || Array.isArray(actual) ? actual.length : undefined,
        operand,
        `${path}.length`,
      );
    case "$not":
      return unless(!jsonMatches(actual, operand), `not ${show(operand)}`);
    case "$one_of":
      return unless(
        Array.isArray(operand) && operand.some((choice) => jsonMatches(actual, choice)),
        `one of ${show(operand)}`,
      );
    case "$exact":
      return unless(canonical(actual) === canonical(operand), `exactly ${show(operand)}`);
    case "$gt":
      return compare((a, b) => a > b, ">");
    case "$gte":
      return compare((a, b) => a >= b, ">=");
    case "$lt":
      return compare((a, b) => a < b, "<");
    case "$lte":
      return compare((a, b) => a <= b, "<=");
    default:
      return [`${at}: unknown operator ${operator}`];
  }
}

function containsInOrder(actual: readonly unknown[], wanted: unknown): boolean {
  const items = Array.isArray(wanted) ? wanted : [wanted];
  let from = 0;
  return items.every((item) => {
    const found = actual.findIndex((value, index) => index >= from && jsonMatches(value, item));
    from = found + 1;
    return found >= 0;
  });
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isMap(value)) return JSON.stringify(value) ?? "undefined";
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(",")}}`;
}

const LONGEST_SHOWN = 400;

/** A value in one line, cut when it is long. */
export function show(value: unknown): string {
  if (value === undefined) return "nothing";
  const line = JSON.stringify(value) ?? typeof value;
  return line.length > LONGEST_SHOWN ? `${line.slice(0, LONGEST_SHOWN)}… (${line.length} characters)` : line;
}
