import { type Run, spend } from "./budget.ts";
import { RenderFault } from "./problem.ts";
import { Builtin, Dict, Float, Namespace, Sequence, Undefined, type Value } from "./values.ts";

/** Whether Python takes a value for true. */
export function truth(run: Run, value: Value): boolean {
  switch (typeof value) {
    case "boolean":
      return value;
    case "string":
      return value !== "";
    case "number":
      return value !== 0;
    case "object":
      if (value === null) return false;
      if (Array.isArray(value)) return value.length > 0;
      if (value instanceof Undefined) {
        if (value.strict) throw new RenderFault(value.message);
        return false;
      }
      if (value instanceof Float) return value.value !== 0;
      if (value instanceof Sequence) return value.items.length > 0;
      if (value instanceof Dict) return value.entries.size > 0;
      if (value instanceof Namespace || value instanceof Builtin) return true;
      return countKeys(run, value) > 0;
    default:
      return true;
  }
}

/** How many keys an object from outside has; counting them takes a while. */
export function countKeys(run: Run, object: object): number {
  const { length } = Object.keys(object);
  spend(run, length >>> 2);
  return length;
}
