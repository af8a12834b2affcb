import { made, MAX_OUTPUT_BYTES, type Run, spendItems, spendText } from "./budget.ts";
import { RenderFault } from "./problem.ts";
import { formatPercent } from "./printf.ts";
import type { ArithmeticOperator } from "./syntax.ts";
import {
  floatOf,
  integerOf,
  isInteger,
  itemsOf,
  numberOf,
  refuseUndefined,
  Sequence,
  typeName,
  type Value,
} from "./values.ts";

/** Python's arithmetic on numbers, texts, lists and tuples. */
export function calculate(run: Run, operator: ArithmeticOperator, a: Value, b: Value): Value {
  const x = numberOf(a);
  const y = numberOf(b);
  if (x !== null && y !== null) return onNumbers(operator, x, y, isInteger(a) && isInteger(b));
  refuseUndefined(a);
  refuseUndefined(b);
  if (operator === "+") {
    if (typeof a === "string" && typeof b === "string") {
      spendText(run, a.length + b.length);
      return a + b;
    }
    const joined = joinItems(run, a, b);
    if (joined) return joined;
  } else if (operator === "*") {
    if (isInteger(a)) return repeat(run, b, Number(a)) ?? mismatch(operator, a, b);
    if (isInteger(b)) return repeat(run, a, Number(b)) ?? mismatch(operator, a, b);
  } else if (operator === "%" && typeof a === "string") {
    return made(run, formatPercent(run, a, b));
  }
  return mismatch(operator, a, b);
}

export function negate(value: Value): Value {
  const number = numberOf(value);
  if (number === null) {
    refuseUndefined(value);
    throw new RenderFault(`bad operand type for unary -: '${typeName(value)}'`);
  }
  return isInteger(value) ? integerOf(-number) : floatOf(-number);
}

export function affirm(value: Value): Value {
  const number = numberOf(value);
  if (number === null) {
    refuseUndefined(value);
    throw new RenderFault(`bad operand type for unary +: '${typeName(value)}'`);
  }
  return typeof value === "boolean" ? number : value;
}

function onNumbers(operator: ArithmeticOperator, x: number, y: number, integers: boolean): Value {
  const result = integers ? integerOf : floatOf;
  switch (operator) {
    case "+":
      return result(x + y);
    case "-":
      return result(x - y);
    case "*":
      return result(x * y);
    case "/":
      refuseZero(y);
      return floatOf(x / y);
    case "//":
      refuseZero(y);
      // Exact for integers, whose quotient may not be.
      return integers ? integerOf((x - modulo(x, y)) / y) : floatOf(Math.floor(x / y));
    case "%":
      refuseZero(y);
      return result(modulo(x, y));
    case "**":
      return power(x, y, integers);
  }
}

function refuseZero(divisor: number): void {
  if (divisor === 0) throw new RenderFault("division by zero");
}

/** The remainder with the divisor's sign. */
function modulo(x: number, y: number): number {
  const rest = x % y;
  return rest !== 0 && rest < 0 !== y < 0 ? rest + y : rest;
}

function power(x: number, y: number, integers: boolean): Value {
  if (x === 0 && y < 0) throw new RenderFault("0 cannot be raised to a negative power");
  if (integers && y >= 0) return integerOf(x ** y);
  const result = x ** y;
  if (Number.isNaN(result) && !Number.isNaN(x) && !Number.isNaN(y)) {
    throw new RenderFault("a power is not a real number");
  }
  if (!Number.isFinite(result) && Number.isFinite(x) && Number.isFinite(y)) {
    throw new RenderFault("a power is too large");
  }
  return floatOf(result);
}

/** Null where these are not two lists or two tuples. */
function joinItems(run: Run, a: Value, b: Value): Value {
  const left = itemsOf(a);
  const right = itemsOf(b);
  const type = typeName(a);
  if (!left || !right || type !== typeName(b) || (type !== "list" && type !== "tuple")) return null;
  spendItems(run, left.length + right.length);
  const items = [...left, ...right];
  return type === "list" ? items : new Sequence("tuple", items);
}

/** Null where the value cannot be repeated. */
function repeat(run: Run, value: Value, times: number): Value {
  const count = Math.max(0, times);
  if (typeof value === "string") {
    if (value.length * count > MAX_OUTPUT_BYTES) throw new RenderFault("a text grows too long");
    return made(run, value.repeat(count));
  }
  const items = itemsOf(value);
  const type = typeName(value);
  if (!items || (type !== "list" && type !== "tuple")) return null;
  spendItems(run, items.length * count);
  const repeated = Array.from({ length: items.length * count }, (_, index) => items[index % items.length]);
  return type === "list" ? repeated : new Sequence("tuple", repeated);
}

function mismatch(operator: string, a: Value, b: Value): never {
  const name = operator === "**" ? "** or pow()" : operator;
  throw new RenderFault(`unsupported operand type(s) for ${name}: '${typeName(a)}' and '${typeName(b)}'`);
}
