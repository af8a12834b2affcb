import { calculate } from "./arithmetic.ts";
import { made, type Run } from "./budget.ts";
import { contains, equal, order } from "./compare.ts";
import { isLower, isUpper } from "./letters.ts";
import { toText } from "./python_text.ts";
import type { Callable } from "./signature.ts";
import { isInteger, itemsOf, numberOf, refuseUndefined, typeName, Undefined, type Value } from "./values.ts";

/** Jinja2's tests, by all of their names. */
export const TESTS: ReadonlyMap<string, Callable> = new Map(Object.entries({
  defined: plain((value) => !(value instanceof Undefined)),
  undefined: plain((value) => value instanceof Undefined),
  none: plain((value) => value === null),
  boolean: plain((value) => typeof value === "boolean"),
  true: plain((value) => value === true),
  false: plain((value) => value === false),
  integer: plain((value) => typeof value !== "boolean" && isInteger(value)),
  float: plain((value) => typeName(value) === "float"),
  number: plain((value) => numberOf(value) !== null),
  string: plain((value) => typeof value === "string"),
  mapping: plain((value) => typeName(value) === "dict"),
  sequence: plain(isSequence),
  iterable: plain(isIterable),
  callable: plain(() => false),
  escaped: plain(() => false),
  lower: withRun((run, value) => isLower(made(run, toText(run, value)))),
  upper: withRun((run, value) => isUpper(made(run, toText(run, value)))),
  odd: withRun((run, value) => equal(run, calculate(run, "%", value, 2), 1)),
  even: withRun((run, value) => equal(run, calculate(run, "%", value, 2), 0)),
  divisibleby: withOther((run, value, other) => equal(run, calculate(run, "%", value, other), 0), "num"),
  sameas: withOther((_run, value, other) =>
    value === other ||
    (numberOf(value) === numberOf(other) && typeName(value) === typeName(other) && numberOf(value) !== null)
  ),
  in: withOther((run, value, other) => contains(run, other, value), "seq"),
  ...named(["==", "eq", "equalto"], (run, a, b) => equal(run, a, b)),
  ...named(["!=", "ne"], (run, a, b) => !equal(run, a, b)),
  ...named(["<", "lt", "lessthan"], (run, a, b) => order(run, a, b) < 0),
  ...named(["<=", "le"], (run, a, b) => order(run, a, b, "<=") <= 0),
  ...named([">", "gt", "greaterthan"], (run, a, b) => order(run, a, b, ">") > 0),
  ...named([">=", "ge"], (run, a, b) => order(run, a, b, ">=") >= 0),
}));

function plain(apply: (value: Value) => boolean): Callable {
  return { params: [], apply: (_run, value) => apply(value) };
}

function withRun(apply: (run: Run, value: Value) => boolean): Callable {
  return { params: [], apply };
}

function withOther(apply: (run: Run, value: Value, other: Value) => boolean, name = "other"): Callable {
  return { params: [name], required: 1, apply: (run, value, [other]) => apply(run, value, other) };
}

function named(
  names: readonly string[],
  apply: (run: Run, a: Value, b: Value) => boolean,
): Record<string, Callable> {
  return Object.fromEntries(names.map((name) => [name, withOther(apply, "b")]));
}

function isSequence(value: Value): boolean {
  if (value instanceof Undefined) return !value.strict;
  return ["str", "list", "tuple", "range", "dict"].includes(typeName(value));
}

function isIterable(value: Value): boolean {
  if (value instanceof Undefined && value.strict) refuseUndefined(value);
  return value instanceof Undefined || typeof value === "string" || itemsOf(value) !== null ||
    typeName(value) === "dict";
}
