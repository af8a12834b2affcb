import { MAX_DEPTH, type Run, spend, spendRead, spendSearch } from "./budget.ts";
import { RenderFault } from "./problem.ts";
import { countKeys } from "./truth.ts";
import { compareStrings, finder } from "./strings.ts";
import {
  Dict,
  itemsOf,
  keyOf,
  numberOf,
  plainObject,
  refuseUndefined,
  Sequence,
  typeName,
  Undefined,
  type Value,
} from "./values.ts";

/** Python's `==`: `1 == 1.0 == True`, lists and dicts by content, a list is no tuple. */
export function equal(run: Run, a: Value, b: Value, depth = 0): boolean {
  if (typeof a === "string" && typeof b === "string") {
    if (a.length !== b.length) return false;
    spendRead(run, a.length);
    return a === b;
  }
  if (a instanceof Undefined || b instanceof Undefined) return undefinedEqual(a, b);
  const numberA = numberOf(a);
  if (numberA !== null) return numberA === numberOf(b);
  if (a === b) return true;
  if (depth > MAX_DEPTH) throw new RenderFault("a value is nested too deeply");
  spend(run, 1);
  const itemsA = itemsOf(a);
  const itemsB = itemsOf(b);
  if (itemsA && itemsB) {
    if (typeName(a) !== typeName(b) || itemsA.length !== itemsB.length) return false;
    spend(run, itemsA.length);
    return itemsA.every((item, index) => equal(run, item, itemsB[index], depth + 1));
  }
  if (typeName(a) !== "dict" || typeName(b) !== "dict") return false;
  const pairs = pairsOf(a);
  spend(run, pairs.length);
  return pairs.length === dictSize(run, b) && pairs.every(([key, value]) => {
    const other = entryOf(b, key);
    return other !== undefined && equal(run, value, other[1], depth + 1);
  });
}

function undefinedEqual(a: Value, b: Value): boolean {
  if (a instanceof Undefined && a.strict) refuseUndefined(a);
  if (b instanceof Undefined && b.strict) refuseUndefined(b);
  return a instanceof Undefined && b instanceof Undefined;
}

/** Below, equal, above: a negative number, 0, a positive one. NaN: none of them is given, the answer is NaN. */
export function order(run: Run, a: Value, b: Value, operator = "<", depth = 0): number {
  if (typeof a === "string" && typeof b === "string") {
    spendSearch(run, a.length < b.length ? a : b);
    return compareStrings(a, b);
  }
  const numberA = numberOf(a);
  const numberB = numberOf(b);
  if (numberA !== null && numberB !== null) return numberA === numberB ? 0 : numberA - numberB;
  refuseUndefined(a);
  refuseUndefined(b);
  const itemsA = itemsOf(a);
  const itemsB = itemsOf(b);
  const type = typeName(a);
  if (
    itemsA && itemsB && type === typeName(b) && (type === "list" || type === "tuple") && depth < MAX_DEPTH
  ) {
    for (let index = 0; index < itemsA.length && index < itemsB.length; index += 1) {
      spend(run, 1);
      if (!equal(run, itemsA[index], itemsB[index], depth + 1)) {
        return order(run, itemsA[index], itemsB[index], operator, depth + 1);
      }
    }
    return itemsA.length - itemsB.length;
  }
  throw new RenderFault(`'${operator}' not supported between instances of '${type}' and '${typeName(b)}'`);
}

/** Python's `item in container`. */
export function contains(run: Run, container: Value, item: Value): boolean {
  if (typeof container === "string") {
    refuseUndefined(item);
    if (typeof item !== "string") {
      throw new RenderFault(`'in <string>' requires string as left operand, not ${typeName(item)}`);
    }
    spendSearch(run, container);
    spendSearch(run, item);
    return finder(item)(container, 0) >= 0;
  }
  if (container instanceof Undefined) {
    if (container.strict) refuseUndefined(container);
    return false;
  }
  const items = itemsOf(container);
  if (items) {
    return items.some((each) => {
      spend(run, 1);
      return equal(run, each, item);
    });
  }
  if (typeName(container) === "dict") return entryOf(container, item) !== undefined;
  throw new RenderFault(`argument of type '${typeName(container)}' is not iterable`);
}

/** The pairs of a dict, from outside or made by the template. */
export function pairsOf(dict: Value): readonly (readonly [key: Value, value: Value])[] {
  return dict instanceof Dict ? [...dict.entries.values()] : Object.entries(plainObject(dict) ?? {});
}

/** The pair with this key, or undefined. */
export function entryOf(dict: Value, key: Value): readonly [key: Value, value: Value] | undefined {
  if (dict instanceof Dict) return dict.entries.get(keyOf(key));
  const object = plainObject(dict);
  if (object && typeof key === "string" && Object.hasOwn(object, key)) return [key, object[key]];
  if (Array.isArray(key) || (key instanceof Sequence && typeName(key) !== "tuple")) keyOf(key);
  return undefined;
}

export function dictSize(run: Run, dict: Value): number {
  return dict instanceof Dict ? dict.entries.size : countKeys(run, plainObject(dict) ?? {});
}
