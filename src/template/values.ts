import { RenderFault } from "./problem.ts";

/**
 * A value of a template: JSON data as it came (null, booleans, numbers, strings, arrays, plain objects) and the types
 * below, which JSON has not. A number with an integer value is a Python int, any other a float.
 */
export type Value = unknown;

/** A float with an integer value, such as `4/2`. */
export class Float {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** What a lookup that found nothing gives. Strict: any use but asking for it fails. */
export class Undefined {
  readonly message: string;
  readonly strict: boolean;

  constructor(message: string, strict: boolean) {
    this.message = message;
    this.strict = strict;
  }
}

export type SequenceKind = "tuple" | "group" | "range" | "dict_keys" | "dict_values" | "dict_items";

/** A sequence that is no list. A `group` is a tuple whose two items also have the names `grouper` and `list`. */
export class Sequence {
  readonly kind: SequenceKind;
  readonly items: readonly Value[];
  /** Of a range: how it is shown. */
  readonly shown: string | undefined;

  constructor(kind: SequenceKind, items: readonly Value[], shown?: string) {
    this.kind = kind;
    this.items = items;
    this.shown = shown;
  }
}

/** A dict made by the template: keys of any type, by `keyOf`. */
export class Dict {
  readonly entries = new Map<string, [key: Value, value: Value]>();

  set(key: Value, value: Value): void {
    const id = keyOf(key);
    this.entries.set(id, [this.entries.get(id)?.[0] ?? key, value]);
  }
}

/** `namespace()`: the one thing whose fields a template can assign to. */
export class Namespace {
  readonly fields = new Map<string, Value>();
}

export type PlainObject = Readonly<Record<string, Value>>;

export type TypeName =
  | "NoneType"
  | "bool"
  | "int"
  | "float"
  | "str"
  | "list"
  | SequenceKind
  | "dict"
  | "Undefined"
  | "Namespace"
  | "object";

/** Python's name of a value's type. */
export function typeName(value: Value): TypeName {
  switch (typeof value) {
    case "string":
      return "str";
    case "boolean":
      return "bool";
    case "number":
      return Number.isSafeInteger(value) ? "int" : "float";
    case "object":
      if (value === null) return "NoneType";
      if (Array.isArray(value)) return "list";
      if (value instanceof Sequence) return value.kind === "group" ? "tuple" : value.kind;
      if (value instanceof Float) return "float";
      if (value instanceof Dict) return "dict";
      if (value instanceof Undefined) return "Undefined";
      if (value instanceof Namespace) return "Namespace";
      return value instanceof Builtin ? "object" : "dict";
    default:
      return "object";
  }
}

/** An object with fields and methods that reyn supplies: `loop`, `cycler`, `joiner`. */
export abstract class Builtin {
  abstract readonly typeName: string;
  abstract field(name: string): Value;
  abstract method(name: string): ((args: readonly Value[]) => Value) | undefined;
}

/** An object from outside, or null. */
export function plainObject(value: Value): PlainObject | null {
  return typeof value === "object" && value !== null && typeName(value) === "dict" && !(value instanceof Dict)
    ? (value as PlainObject)
    : null;
}

/** The items of a list, tuple, view or range, or null. */
export function itemsOf(value: Value): readonly Value[] | null {
  if (Array.isArray(value)) return value;
  return value instanceof Sequence ? value.items : null;
}

/** The value of a bool, int or float as a JavaScript number, or null. */
export function numberOf(value: Value): number | null {
  if (typeof value === "number") return value;
  if (typeof value === "boolean") return value ? 1 : 0;
  return value instanceof Float ? value.value : null;
}

export function isInteger(value: Value): value is number | boolean {
  return typeof value === "boolean" || (typeof value === "number" && Number.isSafeInteger(value));
}

export function floatOf(value: number): number | Float {
  return Number.isSafeInteger(value) ? new Float(value) : value;
}

export function integerOf(value: number): number {
  if (!Number.isSafeInteger(value)) throw new RenderFault("an integer is beyond 2**53");
  return value === 0 ? 0 : value;
}

/** Fails where an undefined value is used. */
export function refuseUndefined(value: Value): void {
  if (value instanceof Undefined) throw new RenderFault(value.message);
}

const MAX_KEY_LENGTH = 10_000;

/** A text that is the same for values that are the same key of a dict: `1`, `1.0` and `True` are. */
export function keyOf(value: Value): string {
  if (typeof value === "string") return shortKey(`s${value}`);
  if (value === null) return "n";
  const number = numberOf(value);
  if (number !== null) return `d${number === 0 ? 0 : number}`;
  if (value instanceof Sequence && typeName(value) === "tuple") {
    return shortKey(`t${JSON.stringify(value.items.map(keyOf))}`);
  }
  refuseUndefined(value);
  throw new RenderFault(`unhashable type: '${typeName(value)}'`);
}

/** Tuples of tuples could make keys of any size. */
function shortKey(key: string): string {
  if (key.length > MAX_KEY_LENGTH) throw new RenderFault("a key is too long");
  return key;
}
