import { bounded, type Run } from "./budget.ts";
import { RenderFault } from "./problem.ts";
import { toText } from "./python_text.ts";
import { isInteger, refuseUndefined, typeName, type Value } from "./values.ts";
import { truth } from "./truth.ts";

/** An integer argument; `absent` where none is given. */
export function integer(value: Value, absent: number, what: string): number {
  if (value === undefined) return absent;
  refuseUndefined(value);
  if (!isInteger(value)) throw new RenderFault(`${what} must be an integer, not ${typeName(value)}`);
  return Number(value);
}

/** An integer argument that is a count or a width, so that it is bounded. */
export function count(value: Value, absent: number, what: string): number {
  return bounded(integer(value, absent, what), what);
}

export function flag(run: Run, value: Value, absent: boolean): boolean {
  return value === undefined ? absent : truth(run, value);
}

/** A text argument that must be one. */
export function text(value: Value, what: string): string {
  refuseUndefined(value);
  if (typeof value !== "string") throw new RenderFault(`${what} must be a string, not ${typeName(value)}`);
  return value;
}

/** A text argument that may be none or left out. */
export function optionalText(value: Value, what: string): string | null {
  return value === undefined || value === null ? null : text(value, what);
}

/** Any value as text, the empty text where none is given. */
export function anyText(run: Run, value: Value, absent = ""): string {
  return value === undefined ? absent : toText(run, value);
}
