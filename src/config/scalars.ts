import { z } from "zod";
import { quote } from "../errors/quote.ts";

const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/;
const DURATION_UNIT: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const DURATION_FORMS = "must be a duration (seconds as a number, or <N>ms, <N>s, <N>m, <N>h)";

const SIZE = /^(\d+(?:\.\d+)?)(KiB|MiB|GiB)$/;
const SIZE_UNIT: Readonly<Record<string, number>> = { KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };
const SIZE_FORMS = "must be a size (bytes as a number, or <N>KiB, <N>MiB, <N>GiB)";

const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** How a value of a configuration file is shown in a message. */
export function show(value: unknown): string {
  if (typeof value === "string") return quote(value);
  if (value === null || value === undefined) return "nothing";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  return typeof value === "number" || typeof value === "boolean" ? String(value) : "a mapping";
}

/**
 * A zod error text for a value of the wrong form: `must be a duration (…), got "soon"`. A missing value keeps the
 * general message.
 */
export function expecting(text: string): (issue: { input: unknown }) => string | undefined {
  return (issue) => issue.input === undefined ? undefined : `${text}, got ${show(issue.input)}`;
}

export interface Bounds {
  /** In the unit of the output. */
  min?: number;
  max?: number;
}

type Quantity = z.ZodPipe<
  z.ZodUnion<readonly [z.ZodNumber, z.ZodString]>,
  z.ZodTransform<number, number | string>
>;

/** A duration: seconds as a number, or `<N>ms|s|m|h`, fractions allowed. Yields milliseconds; bounds are in milliseconds. */
export function duration(bounds: Bounds = {}): Quantity {
  return quantity(
    DURATION_FORMS,
    DURATION,
    (n, unit) => n * (DURATION_UNIT[unit ?? "s"] ?? 1),
    bounds,
    showDuration,
  );
}

/** A size: bytes as a number, or `<N>KiB|MiB|GiB`. Yields bytes; bounds are in bytes. */
export function size(bounds: Bounds = {}): Quantity {
  const bytes = (n: number, unit?: string) => unit ? Math.round(n * (SIZE_UNIT[unit] ?? 1)) : n;
  return quantity(SIZE_FORMS, SIZE, bytes, bounds, showSize, true);
}

function quantity(
  forms: string,
  pattern: RegExp,
  convert: (n: number, unit?: string) => number,
  { min = 0, max = Number.MAX_SAFE_INTEGER }: Bounds,
  render: (n: number) => string,
  whole = false,
): Quantity {
  const error = expecting(forms);
  const unit = convert(1);
  const number = z.number({ error }).min(0, { error });
  // For the schema; a value that is out of bounds gets a message of its own below.
  const bounded = (whole ? number.int({ error }) : number).meta({ minimum: min / unit, maximum: max / unit });
  return z.union([bounded, z.string({ error }).regex(pattern, { error })], { error })
    .transform((input, context) => {
      const parts = typeof input === "string" ? pattern.exec(input) : undefined;
      const value = typeof input === "number" ? convert(input) : convert(Number(parts?.[1]), parts?.[2]);
      if (value >= min && value <= max) return value;
      const bound = value < min ? `at least ${render(min)}` : `at most ${render(max)}`;
      context.addIssue({ code: "custom", message: `must be ${bound}, got ${show(input)}` });
      return z.NEVER;
    });
}

/** Milliseconds in the form that a configuration file takes: `1500ms`, `2s`, `5m`, `1h`. */
export function showDuration(ms: number): string {
  for (const unit of ["h", "m", "s"]) {
    const size = DURATION_UNIT[unit] ?? 1;
    if (ms >= size && ms % size === 0) return `${ms / size}${unit}`;
  }
  return `${ms}ms`;
}

/** Bytes in the form that a configuration file takes: `512`, `8KiB`, `1MiB`. */
export function showSize(bytes: number): string {
  for (const unit of ["GiB", "MiB", "KiB"]) {
    const size = SIZE_UNIT[unit] ?? 1;
    if (bytes >= size && bytes % size === 0) return `${bytes / size}${unit}`;
  }
  return `${bytes} bytes`;
}

/** true or false. The words of YAML 1.1 (`yes`, `no`, `on`, `off`) are strings and get an error that says what to write. */
export function bool(): z.ZodBoolean {
  return z.boolean();
}

/** Text that is not only white space; kept as written. */
export function nonBlank(): z.ZodString {
  return z.string().regex(/\S/, { error: "must not be blank" });
}

/** Text that the system takes as an argument or a file name; to be given to `regex`. */
export const WITHOUT_NUL = new RegExp(String.raw`^[^\u0000]*$`);
export const NUL_MESSAGE = "must not hold a NUL character";

/** The name of an environment variable. */
export function envName(): z.ZodString {
  return z.string().regex(ENV_NAME, { error: expecting("must be the name of an environment variable") });
}
