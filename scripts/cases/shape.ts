export type Path = readonly (string | number)[];

/** Where a finding stands: at the key of the path's last part, or at its value. */
export type Spot = "key" | "value";

export interface Context {
  report(path: Path, message: string, spot?: Spot): void;
}

/**
 * Reads a value, reports what is wrong with it, and goes on so that all findings come at once. When something was
 * reported, the result is not to be used.
 */
export type Shape<T> = (value: unknown, path: Path, context: Context) => T;

export type Of<S> = S extends Shape<infer T> ? T : never;

interface Optional<T> {
  optional: Shape<T>;
}

type Fields = Record<string, Shape<unknown> | Optional<unknown>>;
type RequiredKeys<F> = { [K in keyof F]: F[K] extends Optional<unknown> ? never : K }[keyof F];
type Read<F> = F extends Optional<infer T> ? T : F extends Shape<infer T> ? T : never;

/** The object that a table of fields reads. */
export type RecordOf<F> =
  & { [K in RequiredKeys<F>]: Read<F[K]> }
  & { [K in Exclude<keyof F, RequiredKeys<F>>]?: Read<F[K]> };

/** Stands for a value that was reported as wrong. */
function wrong<T>(): T {
  return undefined as T;
}

export function describeValue(value: unknown): string {
  if (value === null) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a map";
  return `the ${typeof value === "string" ? "text" : typeof value} ${JSON.stringify(value)}`;
}

export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function scalar<T>(what: string, accept: (value: unknown) => value is T, hint = ""): Shape<T> {
  return (value, path, context) => {
    if (accept(value)) return value;
    context.report(path, `${what} is expected, not ${describeValue(value)}${hint}`);
    return wrong();
  };
}

export const text = scalar("a text", (value) => typeof value === "string", "; put it in quotes");
export const flag = scalar("true or false", (value) => typeof value === "boolean");
export const count = scalar(
  "a whole number of 0 or more",
  (value): value is number => typeof value === "number" && Number.isInteger(value) && value >= 0,
);

/** Anything at all, taken as it is. */
export const anything: Shape<unknown> = (value) => value;

export function optional<T>(shape: Shape<T>): Optional<T> {
  return { optional: shape };
}

export function list<T>(item: Shape<T>, atLeast = 0): Shape<T[]> {
  return (value, path, context) => {
    if (!Array.isArray(value)) {
      context.report(path, `a list is expected, not ${describeValue(value)}`);
      return [];
    }
    if (value.length < atLeast) context.report(path, `at least ${atLeast} entry is expected`);
    return value.map((entry, index) => item(entry, [...path, index], context));
  };
}

export function mapOf<T>(item: Shape<T>): Shape<Record<string, T>> {
  return (value, path, context) => {
    if (!isMap(value)) {
      context.report(path, `a map is expected, not ${describeValue(value)}`);
      return {};
    }
    return Object.fromEntries(
      Object.entries(value).map(([key, entry]) => [key, item(entry, [...path, key], context)]),
    );
  };
}

export function oneOf<const T extends string>(...words: readonly T[]): Shape<T> {
  return (value, path, context) => {
    const found = words.find((word) => word === value);
    if (found === undefined) {
      context.report(path, `one of ${words.join(", ")} is expected, not ${describeValue(value)}`);
      return wrong();
    }
    return found;
  };
}

/** A map with these keys and no others. */
export function record<F extends Fields>(fields: F): Shape<RecordOf<F>> {
  return (value, path, context) => {
    if (!isMap(value)) {
      context.report(path, `a map is expected, not ${describeValue(value)}`);
      return wrong();
    }
    for (const key of Object.keys(value)) {
      if (!Object.hasOwn(fields, key)) {
        context.report([...path, key], unknownKey(key, Object.keys(fields)), "key");
      }
    }
    const result: Record<string, unknown> = {};
    for (const [key, field] of Object.entries(fields)) {
      const present = Object.hasOwn(value, key);
      if (typeof field === "function") {
        if (present) result[key] = field(value[key], [...path, key], context);
        else context.report(path, `the key "${key}" is missing`);
      } else if (present) result[key] = field.optional(value[key], [...path, key], context);
    }
    return result as RecordOf<F>;
  };
}

export function unknownKey(key: string, known: readonly string[]): string {
  const close = known.filter((name) => distance(key, name) <= Math.ceil(name.length / 3))
    .sort((a, b) => distance(key, a) - distance(key, b))[0];
  return `unknown key "${key}" (${close ? `did you mean "${close}"?` : `known: ${known.join(", ")}`})`;
}

/** Edit distance of two short words. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, replaced));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
