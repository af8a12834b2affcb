import { iterate, lengthOf } from "./access.ts";
import { anyText, count, flag } from "./arguments.ts";
import { calculate } from "./arithmetic.ts";
import { type Run, spend, spendChars, spendItems } from "./budget.ts";
import { equal, order, pairsOf } from "./compare.ts";
import { attributeGetter, attributesGetter, caseFolder } from "./item_path.ts";
import { RenderFault } from "./problem.ts";
import { toText } from "./python_text.ts";
import type { Callable } from "./signature.ts";
import { joinTexts, reversed } from "./text_operations.ts";
import { itemsOf, keyOf, Sequence, typeName, Undefined, type Value } from "./values.ts";

/** Filters on lists, dicts and whatever else can be walked over. Where Jinja2 gives a generator, these give a list. */
export const SEQUENCE_FILTERS: Readonly<Record<string, Callable>> = {
  length: { params: [], apply: (run, value) => lengthOf(run, value) },
  count: { params: [], apply: (run, value) => lengthOf(run, value) },
  list: { params: [], apply: (run, value) => [...iterate(run, value)] },
  first: { params: [], apply: (run, value) => pick(run, iterate(run, value), "first") },
  last: { params: [], apply: (run, value) => pick(run, iterate(run, value), "last") },
  reverse: {
    params: [],
    apply(run, value) {
      if (typeof value !== "string") return [...iterate(run, value)].reverse();
      spendChars(run, value);
      return reversed(value);
    },
  },
  join: {
    params: ["d", "attribute"],
    apply(run, value, [separator, attribute]) {
      const get = attributeGetter(run, attribute);
      const items = iterate(run, value);
      const parts = attribute === undefined || attribute === null ? items : items.map(get);
      return joinTexts(run, parts.map((part) => toText(run, part)), anyText(run, separator));
    },
  },
  items: {
    params: [],
    apply(run, value) {
      if (value instanceof Undefined) return [];
      if (typeName(value) !== "dict") throw new RenderFault("can only get item pairs from a mapping");
      const pairs = pairsOf(value);
      spendItems(run, pairs.length);
      return pairs.map(([key, each]) => new Sequence("tuple", [key, each]));
    },
  },
  sort: {
    params: ["reverse", "case_sensitive", "attribute"],
    apply(run, value, [reverse, caseSensitive, attribute]) {
      const get = attributesGetter(run, attribute, caseFolder(flag(run, caseSensitive, false)));
      return sorted(run, iterate(run, value), get, flag(run, reverse, false));
    },
  },
  dictsort: {
    params: ["case_sensitive", "by", "reverse"],
    apply(run, value, [caseSensitive, by, reverse]) {
      if (by !== undefined && by !== "key" && by !== "value") {
        throw new RenderFault('dictsort sorts by "key" or "value"');
      }
      if (typeName(value) !== "dict") throw new RenderFault(`dictsort wants a dict, not ${typeName(value)}`);
      const fold = caseFolder(flag(run, caseSensitive, false));
      const pairs = pairsOf(value).map(([key, each]) => new Sequence("tuple", [key, each]));
      const at = by === "value" ? 1 : 0;
      return sorted(run, pairs, (pair) => fold(itemsOf(pair)?.[at]), flag(run, reverse, false));
    },
  },
  unique: {
    params: ["case_sensitive", "attribute"],
    apply(run, value, [caseSensitive, attribute]) {
      const get = attributeGetter(run, attribute, undefined, caseFolder(flag(run, caseSensitive, false)));
      const seen = new Set<string>();
      return iterate(run, value).filter((item) => {
        const before = seen.size;
        return seen.add(keyOf(get(item))).size > before;
      });
    },
  },
  min: {
    params: ["case_sensitive", "attribute"],
    apply: (run, value, [cased, path]) => extreme(run, value, cased, path, -1),
  },
  max: {
    params: ["case_sensitive", "attribute"],
    apply: (run, value, [cased, path]) => extreme(run, value, cased, path, 1),
  },
  sum: {
    params: ["attribute", "start"],
    apply(run, value, [attribute, start]) {
      const get = attributeGetter(run, attribute);
      if (typeof start === "string") throw new RenderFault("sum() can't sum strings");
      return iterate(run, value).reduce(
        (total: Value, item) => calculate(run, "+", total, get(item)),
        start ?? 0,
      );
    },
  },
  groupby: {
    params: ["attribute", "default", "case_sensitive"],
    required: 1,
    apply(run, value, [attribute, absent, caseSensitive]) {
      const get = attributeGetter(run, attribute, absent, caseFolder(flag(run, caseSensitive, false)));
      const shown = attributeGetter(run, attribute, absent);
      const groups: { key: Value; items: Value[] }[] = [];
      for (const item of sorted(run, iterate(run, value), get, false)) {
        const key = get(item);
        const last = groups.at(-1);
        if (last && equal(run, last.key, key)) last.items.push(item);
        else groups.push({ key, items: [item] });
      }
      return groups.map(({ items }) => new Sequence("group", [shown(items[0]), items]));
    },
  },
  batch: {
    params: ["linecount", "fill_with"],
    required: 1,
    apply(run, value, [linecount, fill]) {
      const size = count(linecount, 1, "linecount");
      const rows: Value[][] = [];
      for (const item of iterate(run, value)) {
        const last = rows.at(-1);
        if (last && last.length !== size) last.push(item);
        else rows.push([item]);
      }
      const last = rows.at(-1);
      if (last && fill !== undefined && fill !== null && last.length < size) {
        spend(run, size - last.length);
        while (last.length < size) last.push(fill);
      }
      return rows;
    },
  },
  slice: {
    params: ["slices", "fill_with"],
    required: 1,
    apply(run, value, [slices, fill]) {
      const items = iterate(run, value);
      const columns = count(slices, 1, "slices");
      if (columns === 0) throw new RenderFault("division by zero");
      spendItems(run, Math.max(0, columns));
      const each = Math.floor(items.length / columns);
      const longer = items.length % columns;
      let at = 0;
      return Array.from({ length: Math.max(0, columns) }, (_, index) => {
        const column = items.slice(at, at + each + (index < longer ? 1 : 0));
        at += column.length;
        if (fill !== undefined && fill !== null && index >= longer) column.push(fill);
        return column;
      });
    },
  },
};

function pick(run: Run, items: readonly Value[], which: "first" | "last"): Value {
  if (items.length === 0) return new Undefined(`no ${which} item, the sequence was empty`, run.strict);
  return which === "first" ? items[0] : items.at(-1);
}

/** A stable sort by Python's order of the keys. */
function sorted(
  run: Run,
  items: readonly Value[],
  keyFor: (item: Value) => Value,
  reverse: boolean,
): Value[] {
  spendItems(run, items.length);
  const keyed = items.map((item) => ({ item, key: keyFor(item) }));
  keyed.sort((a, b) => {
    spend(run, 1);
    const way = order(run, a.key, b.key);
    return reverse ? -way : way;
  });
  return keyed.map(({ item }) => item);
}

function extreme(run: Run, value: Value, caseSensitive: Value, path: Value, sign: number): Value {
  const get = attributeGetter(run, path, undefined, caseFolder(flag(run, caseSensitive, false)));
  const items = iterate(run, value);
  if (items.length === 0) return new Undefined("no aggregated item, the sequence was empty", run.strict);
  let best = items[0];
  let bestKey = get(best);
  for (const item of items.slice(1)) {
    const key = get(item);
    if (order(run, key, bestKey, sign < 0 ? "<" : ">") * sign > 0) {
      best = item;
      bestKey = key;
    }
  }
  return best;
}
