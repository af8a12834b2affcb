import { SEQUENCE_FILTERS } from "./sequence_filters.ts";
import type { Callable } from "./signature.ts";
import { TESTS } from "./tests.ts";
import { TEXT_FILTERS } from "./text_filters.ts";
import { keyOf, type Value } from "./values.ts";
import { valueFilters } from "./value_filters.ts";

const table = new Map<string, Callable>();
for (const group of [TEXT_FILTERS, SEQUENCE_FILTERS, valueFilters(table)]) {
  for (const [name, filter] of Object.entries(group)) table.set(name, filter);
}

/** Every filter of Jinja2 but those of `REFUSED_FILTERS`. */
export const FILTERS: ReadonlyMap<string, Callable> = table;

/** Filters that Jinja2 has and hook templates have not, with the reason. */
export const REFUSED_FILTERS: ReadonlyMap<string, string> = new Map([
  ["random", "a template gives the same text each time"],
  ["urlize", "a push is no HTML"],
  ["pprint", "use tojson(indent=2)"],
]);

const nameTest = (names: ReadonlyMap<string, unknown>): Callable => ({
  params: [],
  apply(_run, value: Value) {
    keyOf(value);
    return typeof value === "string" && names.has(value);
  },
});

/** Tests by name, with those that ask what a template can use. */
export const ALL_TESTS: ReadonlyMap<string, Callable> = new Map([
  ...TESTS,
  ["filter", nameTest(FILTERS)],
  ["test", nameTest(TESTS)],
]);
