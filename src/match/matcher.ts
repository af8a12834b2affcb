import { compileGlob } from "./glob.ts";

/** A compiled `matcher:` map. */
export interface Matcher {
  /** The first field, in the order written, whose value does not match; null: all match. Allocates nothing. */
  failedField(payload: Readonly<Record<string, unknown>>): string | null;
  /** As `failedField`, but its position in `fields`; -1: all match. */
  failing(payload: Readonly<Record<string, unknown>>): number;
  /** The fields, in the order written. */
  readonly fields: readonly string[];
  /** As it was written. */
  readonly patterns: Readonly<Record<string, string>>;
}

/** Fields that are matched as globs; every other field must be equal. */
export const GLOB_FIELDS: ReadonlySet<string> = new Set(["uri", "path"]);

interface Check {
  field: string;
  accepts(value: unknown): boolean;
}

/**
 * Compiles a `matcher:` map of field to pattern. Strings are compared as they are, numbers by their JSON text, booleans
 * as `true`/`True` and `false`/`False`. Absent fields, null, lists and maps never match. Only own fields count.
 */
export function compileMatcher(matcher: Readonly<Record<string, string>>): Matcher {
  const checks = Object.entries(matcher).map(([field, pattern]): Check => ({
    field,
    accepts: GLOB_FIELDS.has(field) ? globAccepts(pattern) : exactAccepts(pattern),
  }));
  const fields = checks.map(({ field }) => field);
  const failing = firstFailing(checks);
  return {
    fields,
    patterns: matcher,
    failing,
    failedField(payload) {
      const index = failing(payload);
      return index === -1 ? null : fields[index] ?? null;
    },
  };
}

function firstFailing(checks: readonly Check[]): Matcher["failing"] {
  const [only] = checks;
  if (only && checks.length === 1) {
    const { field, accepts } = only;
    return (payload) => accepts(payload[field]) && Object.hasOwn(payload, field) ? -1 : 0;
  }
  return (payload) => {
    for (let index = 0; index < checks.length; index++) {
      const { field, accepts } = checks[index] as Check;
      if (!accepts(payload[field]) || !Object.hasOwn(payload, field)) return index;
    }
    return -1;
  };
}

function exactAccepts(pattern: string): (value: unknown) => boolean {
  const other = plainValue(pattern);
  return other === undefined ? (value) => value === pattern : (value) => value === pattern || value === other;
}

/** The number or boolean that is written like this, if any. */
function plainValue(pattern: string): number | boolean | undefined {
  if (pattern === "true" || pattern === "True") return true;
  if (pattern === "false" || pattern === "False") return false;
  const number = Number(pattern);
  return Number.isFinite(number) && String(number) === pattern ? number : undefined;
}

function globAccepts(pattern: string): (value: unknown) => boolean {
  const glob = compileGlob(pattern);
  return (value) => {
    if (typeof value === "string") return glob(value);
    if (typeof value === "number") return glob(String(value));
    if (typeof value === "boolean") {
      return value ? glob("true") || glob("True") : glob("false") || glob("False");
    }
    return false;
  };
}
