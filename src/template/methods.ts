import { type Run, spend, spendItems } from "./budget.ts";
import { entryOf, equal, pairsOf } from "./compare.ts";
import { RenderFault } from "./problem.ts";
import { applyCallable, type Callable, callProblem } from "./signature.ts";
import { STRING_METHODS } from "./string_methods.ts";
import {
  Builtin,
  Dict,
  itemsOf,
  refuseUndefined,
  Sequence,
  type SequenceKind,
  typeName,
  type Value,
} from "./values.ts";

const DICT_METHODS: ReadonlyMap<string, Callable> = new Map(Object.entries({
  items: view("dict_items", ([key, value]) => new Sequence("tuple", [key, value])),
  keys: view("dict_keys", ([key]) => key),
  values: view("dict_values", ([, value]) => value),
  get: {
    params: ["key", "default"],
    required: 1,
    apply: (_run, self, [key, absent]) => {
      refuseUndefined(key);
      const entry = entryOf(self, key);
      return entry ? entry[1] : absent ?? null;
    },
  },
  copy: { params: [], apply: (_run, self) => self },
}));

const LIST_METHODS: ReadonlyMap<string, Callable> = new Map(Object.entries({
  index: {
    params: ["value"],
    required: 1,
    apply: (run, self, [wanted]) => {
      const at = (itemsOf(self) ?? []).findIndex((item) => same(run, item, wanted));
      if (at < 0) throw new RenderFault("the value is not in the list");
      return at;
    },
  },
  count: {
    params: ["value"],
    required: 1,
    apply: (run, self, [wanted]) => (itemsOf(self) ?? []).filter((item) => same(run, item, wanted)).length,
  },
  copy: { params: [], apply: (_run, self) => self },
}));

/** Methods of `loop` and of what `cycler` and `joiner` make. */
const BUILTIN_METHODS = ["cycle", "changed", "next", "reset"];

/** Every method name that some value has; a call of another is refused when a template is compiled. */
export const METHOD_NAMES: ReadonlySet<string> = new Set([
  ...STRING_METHODS.keys(),
  ...DICT_METHODS.keys(),
  ...LIST_METHODS.keys(),
  ...BUILTIN_METHODS,
]);

/** `object.name(…)`. */
export function callMethod(
  run: Run,
  object: Value,
  name: string,
  positional: readonly Value[],
  named: ReadonlyMap<string, Value> | null,
): Value {
  refuseUndefined(object);
  if (object instanceof Builtin) {
    const method = object.method(name);
    if (!method || named) throw new RenderFault(`a ${object.typeName} has no such method "${name}"`);
    return method(positional);
  }
  const method = methodsOf(object)?.get(name);
  if (!method) throw new RenderFault(`'${typeName(object)}' object has no method '${name}'`);
  const problem = callProblem(`${name}()`, method, positional.length, named ? [...named.keys()] : []);
  if (problem) throw new RenderFault(problem);
  return applyCallable(run, method, object, positional, named);
}

function methodsOf(object: Value): ReadonlyMap<string, Callable> | null {
  switch (typeName(object)) {
    case "str":
      return STRING_METHODS;
    case "dict":
      return DICT_METHODS;
    case "list":
    case "tuple":
    case "range":
      return LIST_METHODS;
    default:
      return null;
  }
}

function view(kind: SequenceKind, pick: (pair: readonly [Value, Value]) => Value): Callable {
  return {
    params: [],
    apply: (run, self) => {
      const pairs = pairsOf(self);
      spendItems(run, pairs.length);
      return new Sequence(kind, pairs.map(pick));
    },
  };
}

function same(run: Run, a: Value, b: Value): boolean {
  spend(run, 1);
  return equal(run, a, b);
}

/** A dict of what a call was given by name, after the pairs of another dict or of a list of pairs. */
export function dictFrom(run: Run, start: Value, named: ReadonlyMap<string, Value>): Dict {
  const dict = new Dict();
  if (start !== undefined) {
    const pairs = typeName(start) === "dict" ? pairsOf(start) : (itemsOf(start) ?? []).map(pairOf);
    spendItems(run, pairs.length);
    for (const [key, value] of pairs) dict.set(key, value);
  }
  for (const [key, value] of named) dict.set(key, value);
  return dict;
}

function pairOf(value: Value): readonly [Value, Value] {
  const items = itemsOf(value);
  if (items?.length !== 2) throw new RenderFault("dict() wants pairs");
  return [items[0], items[1]];
}
