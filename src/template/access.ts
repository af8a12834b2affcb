import { type Run, spend, spendChars, spendItems, spendRead, spendSearch } from "./budget.ts";
import { dictSize, entryOf, pairsOf } from "./compare.ts";
import { RenderFault } from "./problem.ts";
import { charAt, charCount, charSlice, charsOf } from "./strings.ts";
import {
  Builtin,
  isInteger,
  itemsOf,
  Namespace,
  refuseUndefined,
  Sequence,
  typeName,
  Undefined,
  type Value,
} from "./values.ts";

/** `object.name`: own fields only. */
export function attribute(run: Run, object: Value, name: string): Value {
  refuseUndefined(object);
  if (object instanceof Namespace) return object.fields.get(name) ?? missing(run, object, name);
  if (object instanceof Builtin) {
    const field = object.field(name);
    return field === undefined ? missing(run, object, name) : field;
  }
  if (object instanceof Sequence && object.kind === "group") {
    if (name === "grouper") return object.items[0];
    if (name === "list") return object.items[1];
  }
  const entry = typeName(object) === "dict" ? entryOf(object, name) : undefined;
  return entry ? fromOutside(run, object, name, entry[1]) : missing(run, object, name);
}

/** `object[key]`. */
export function item(run: Run, object: Value, key: Value): Value {
  refuseUndefined(object);
  refuseUndefined(key);
  if (typeName(object) === "dict") {
    const entry = isHashable(key) ? entryOf(object, key) : undefined;
    return entry ? fromOutside(run, object, key, entry[1]) : missing(run, object, key);
  }
  if (isInteger(key)) {
    const index = Number(key);
    if (typeof object === "string") {
      spendRead(run, object.length);
      return charAt(object, index) ?? missing(run, object, key);
    }
    const items = indexable(object) ? itemsOf(object) : null;
    if (items) {
      const at = index < 0 ? items.length + index : index;
      return at >= 0 && at < items.length ? items[at] : missing(run, object, key);
    }
  }
  return typeof key === "string" ? attribute(run, object, key) : missing(run, object, key);
}

function isHashable(key: Value): boolean {
  return itemsOf(key) === null ? typeName(key) !== "dict" : typeName(key) === "tuple";
}

function indexable(object: Value): boolean {
  return ["list", "tuple", "range"].includes(typeName(object));
}

/** JSON has null where it has nothing; what else is not JSON counts as absent. */
function fromOutside(run: Run, object: Value, key: Value, value: Value): Value {
  return value === undefined || typeof value === "function" || typeof value === "symbol"
    ? missing(run, object, key)
    : value;
}

function missing(run: Run, object: Value, key: Value): Undefined {
  const owner = object instanceof Builtin ? object.typeName : typeName(object);
  const what = typeof key === "string"
    ? `attribute '${key}'`
    : isInteger(key)
    ? `element ${Number(key)}`
    : "such element";
  return new Undefined(`'${owner} object' has no ${what}`, run.strict);
}

/** `object[start:stop:step]`. */
export function slice(run: Run, object: Value, start: Value, stop: Value, step: Value): Value {
  for (const value of [object, start, stop, step]) refuseUndefined(value);
  if (![start, stop, step].every((bound) => bound === null || isInteger(bound))) {
    throw new RenderFault("slice indices must be integers or None");
  }
  const by = step === null ? 1 : Number(step);
  if (by === 0) throw new RenderFault("slice step cannot be zero");
  if (typeof object === "string") return sliceText(run, object, start, stop, by);
  const items = indexable(object) ? itemsOf(object) : null;
  if (!items) throw new RenderFault(`'${typeName(object)}' object cannot be sliced`);
  const picked = pick(items, start, stop, by);
  spend(run, picked.length);
  if (Array.isArray(object)) return picked;
  return new Sequence(typeName(object) === "range" ? "range" : "tuple", picked);
}

function sliceText(run: Run, text: string, start: Value, stop: Value, step: number): string {
  if (step === 1) {
    spendSearch(run, text);
    const [from, to] = sliceBounds(charCount(text), start, stop, 1);
    return charSlice(text, from, Math.max(from, to));
  }
  spendChars(run, text);
  return pick(charsOf(text), start, stop, step).join("");
}

function pick(items: readonly Value[], start: Value, stop: Value, step: number): Value[] {
  const picked: Value[] = [];
  const [from, to] = sliceBounds(items.length, start, stop, step);
  for (let at = from; step > 0 ? at < to : at > to; at += step) picked.push(items[at]);
  return picked;
}

/** Where a slice begins and before what it ends, within the items. */
function sliceBounds(length: number, start: Value, stop: Value, step: number): [number, number] {
  const [low, high] = step > 0 ? [0, length] : [-1, length - 1];
  const clamp = (value: Value, absent: number) => {
    if (value === null) return absent;
    const index = Number(value) < 0 ? Number(value) + length : Number(value);
    return Math.min(Math.max(index, low), high);
  };
  return [clamp(start, step > 0 ? low : high), clamp(stop, step > 0 ? high : low)];
}

/** What `for` walks over: items, characters, keys. Lenient undefined: nothing. */
export function iterate(run: Run, value: Value): readonly Value[] {
  const items = itemsOf(value);
  if (items) {
    spendItems(run, items.length);
    return items;
  }
  if (typeof value === "string") {
    spendItems(run, value.length);
    return charsOf(value);
  }
  if (value instanceof Undefined) {
    if (value.strict) refuseUndefined(value);
    return [];
  }
  if (typeName(value) === "dict") {
    const keys = pairsOf(value).map(([key]) => key);
    spendItems(run, keys.length);
    return keys;
  }
  throw new RenderFault(
    `'${value instanceof Builtin ? value.typeName : typeName(value)}' object is not iterable`,
  );
}

export function lengthOf(run: Run, value: Value): number {
  if (typeof value === "string") {
    spendRead(run, value.length);
    return charCount(value);
  }
  const items = itemsOf(value);
  if (items) return items.length;
  if (value instanceof Undefined) {
    if (value.strict) refuseUndefined(value);
    return 0;
  }
  if (typeName(value) === "dict") return dictSize(run, value);
  throw new RenderFault(`object of type '${typeName(value)}' has no len()`);
}
