import { z } from "zod";
import type { ErrorCode } from "../errors/catalogue.ts";
import { quote } from "../errors/quote.ts";
import { describeIssue } from "./describe_issue.ts";
import { type Refusal, refusalOf } from "./refusal.ts";
import { marksOf } from "./marks.ts";
import { valueAt } from "./path.ts";
import { show } from "./scalars.ts";
import type { Path } from "./section.ts";
import { didYouMean } from "./suggest.ts";

/** One thing that a schema found wrong with a value. */
export interface ValueIssue {
  /** What it is about; for a missing key the map that lacks it. */
  path: Path;
  /** Where to point: at `path` or below it. */
  placeAt: Path;
  at: "value" | "key";
  code: ErrorCode;
  message: string;
  fix?: string;
  allowed?: readonly string[];
  /**
   * False when another file could still mend it by adding to the value: a missing key, a check across keys, a union
   * that no branch accepts.
   */
  certain: boolean;
}

export type Checked<Value> = { ok: true; value: Value } | { ok: false; issues: ValueIssue[] };

/** Longest list of allowed keys that a finding carries. */
const LISTED_KEYS = 24;

/** The raw issues of one parse: zod hands out messages only, and the finished text needs what stands behind them. */
type Raw = z.core.$ZodRawIssue;
const TOKEN = "\u0000";

/** Judges a raw value of a configuration file by its schema; all that is wrong comes at once, worded for the operator. */
export function checkValue<Value>(schema: z.ZodType<Value>, value: unknown): Checked<Value> {
  const quick = schema.safeParse(value, { error: () => "" });
  if (quick.success) return { ok: true, value: quick.data };
  const raws: Raw[] = [];
  // Stands in for the text wherever the schema gives none of its own, and leads back to the raw issue.
  const result = schema.safeParse(value, { error: (raw) => `${TOKEN}${raws.push(raw) - 1}` });
  if (result.success) return { ok: true, value: result.data };
  return { ok: false, issues: result.error.issues.flatMap((issue) => translate(issue, [], value, raws)) };
}

function translate(issue: z.core.$ZodIssue, base: Path, root: unknown, raws: readonly Raw[]): ValueIssue[] {
  const path = [...base, ...issue.path.map((key) => typeof key === "symbol" ? String(key) : key)];
  const own = issue.message.startsWith(TOKEN) ? undefined : issue.message;
  const raw = own === undefined ? raws[Number(issue.message.slice(1))] : undefined;
  const value = valueAt(root, path);
  if (issue.code === "custom") return [custom(path, own, refusalOf(issue.params))];
  if (value === undefined && path.length > 0 && issue.code !== "unrecognized_keys") return [missing(path)];
  // Stands for a number that could not be read, which is a finding of its own.
  if (Number.isNaN(value)) return [];
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys.map((key) => unknownKey([...path, key], key, knownKeys(raw)));
    case "invalid_union":
      if (own !== undefined) return [wrong(path, own, value, false)];
      if (issue.errors.length === 0) break;
      return closest(issue.errors, path, root, raws, value);
    case "invalid_key":
      return issue.issues.slice(0, 1).map((inner) => {
        const text = inner.message.startsWith(TOKEN) ? describeIssue(inner, path.at(-1)) : inner.message;
        return {
          ...wrong(path, `the key ${quote(String(path.at(-1)))} ${text}`, undefined, true),
          at: "key",
        };
      });
    default:
  }
  return [wrong(path, own ?? describeIssue(issue, value), value, true, choices(issue))];
}

function wrong(
  path: Path,
  message: string,
  value: unknown,
  certain: boolean,
  among: readonly string[] = [],
): ValueIssue {
  const fix = typeof value === "string" ? booleanFix(value, message) ?? didYouMean(value, among) : undefined;
  return {
    path,
    placeAt: path,
    at: "value",
    code: "E_CONFIG_TYPE",
    message,
    ...(fix ? { fix } : {}),
    certain,
  };
}

function custom(path: Path, message: string | undefined, refusal: Refusal | undefined): ValueIssue {
  return {
    path,
    placeAt: path,
    at: refusal?.at ?? "value",
    code: refusal?.code ?? "E_CONFIG_TYPE",
    message: message ?? "is not usable",
    ...(refusal?.fix === undefined ? {} : { fix: refusal.fix }),
    // A refusal by name is about a key that stands there.
    certain: refusal?.at === "key",
  };
}

function missing(path: Path): ValueIssue {
  const parent = path.slice(0, -1);
  const message = `missing key ${quote(String(path.at(-1)))}`;
  return { path: parent, placeAt: parent, at: "value", code: "E_CONFIG_MISSING", message, certain: false };
}

export function unknownKey(path: Path, key: string, known: readonly string[]): ValueIssue {
  const fix = didYouMean(key, known);
  return {
    path: path.slice(0, -1),
    placeAt: path,
    at: "key",
    code: "E_KEY_UNKNOWN",
    message: `unknown key ${quote(key)}`,
    ...(fix === undefined ? {} : { fix }),
    ...(known.length > 0 && known.length <= LISTED_KEYS ? { allowed: known } : {}),
    certain: true,
  };
}

function knownKeys(raw: Raw | undefined): string[] {
  const def = raw?.inst && "def" in raw.inst._zod ? raw.inst._zod.def : undefined;
  if (!def || !("shape" in def) || typeof def.shape !== "object" || def.shape === null) return [];
  return Object.entries(def.shape as Record<string, z.core.$ZodType>)
    .filter(([, schema]) => !marksOf(schema).notYet)
    .map(([key]) => key);
}

function choices(issue: z.core.$ZodIssue): string[] {
  const values = issue.code === "invalid_value"
    ? issue.values
    : issue.code === "invalid_union" && issue.inclusive !== false
    ? issue.options ?? []
    : [];
  return values.filter((value) => typeof value === "string");
}

function booleanFix(value: string, message: string): string | undefined {
  if (!message.startsWith("must be true or false")) return undefined;
  if (/^(yes|on|y|true)$/i.test(value)) return "write `true`";
  if (/^(no|off|n|false)$/i.test(value)) return "write `false`";
  return undefined;
}

/**
 * Of a union's branches only the one that the operator most likely meant is reported: one whose form fits (a mapping
 * for a mapping), then the one with the fewest complaints. When the form fits none, all forms are named.
 */
function closest(
  branches: readonly (readonly z.core.$ZodIssue[])[],
  path: Path,
  root: unknown,
  raws: readonly Raw[],
  value: unknown,
): ValueIssue[] {
  const fitting = branches.filter((issues) =>
    !issues.some((issue) => issue.path.length === 0 && isForm(issue))
  );
  const best = fitting.toSorted((a, b) => a.length - b.length)[0];
  if (best) {
    return best.flatMap((issue) => translate(issue, path, root, raws)).map((i) => ({ ...i, certain: false }));
  }
  const texts = new Set<string>();
  const among: string[] = [];
  for (const issue of branches.flat()) {
    if (issue.path.length > 0) continue;
    const inner = translate(issue, path, root, raws);
    for (const { message } of inner) texts.add(message.replace(/^must be /, "").replace(/, got .*$/, ""));
    among.push(...choices(issue));
  }
  return [wrong(path, `must be ${[...texts].join(" or ")}, got ${show(value)}`, value, false, among)];
}

function isForm(issue: z.core.$ZodIssue): boolean {
  return issue.code === "invalid_type" || issue.code === "invalid_value" || issue.code === "invalid_union";
}
