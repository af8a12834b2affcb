import type { z } from "zod";
import { authorityItems } from "./authority.ts";
import { checkValue } from "./check_value.ts";
import { type Env, type EnvUse, type Expanded, expandValue } from "./env_expand.ts";
import { addFinding, type LoadedFile, startsRun } from "./load_file.ts";
import { valueAt } from "./path.ts";
import type { Path } from "./section.ts";
import { claimsOf, judgeClaim } from "./judge_claims.ts";
import type { JudgeTrust } from "./trust_claim.ts";

/** What the judgement of a value depends on besides the files. */
export interface Surroundings {
  controlDir: string;
  home: string;
  env: Env;
  /** Whether the operator trusts what a project file sets. Default: nothing is trusted. */
  judge?: JudgeTrust;
}

export interface Prepared {
  value: unknown;
  /** Paths (as JSON) about which all is said already. */
  settled: ReadonlySet<string>;
  /** False when it needs a trust that it does not have; it must not be compiled then. */
  trusted: boolean;
}

/**
 * Makes a value of a file ready for its schema: expands variables where the layer does that, and refuses what a
 * project file may not say without the operator's trust. `base` is where the value stands in the file; `operator` what the
 * operator's own file holds there.
 */
export function prepareValue(
  file: LoadedFile,
  base: Path,
  schema: z.ZodType,
  value: unknown,
  around: Surroundings,
  operator?: unknown,
): Prepared {
  const settled = new Set<string>();
  const expands = file.mayExpand && startsRun(file.layer);
  const { value: expanded, uses } = expands ? expandValue(schema, value, around.env) : { value, uses: [] };
  const texts = uses.filter(({ expanded }) => expanded.state === "text").map(({ path }) => path);
  const ready = texts.length > 0 ? retyped(schema, expanded, texts) : expanded;
  const fail = (failed: readonly EnvUse[]) => {
    for (const { path, expanded } of failed) {
      if (expanded.state === "text") continue;
      addFinding(file, [...base, ...path], expanded.code, expanded.message, { fix: expanded.fix });
      settled.add(JSON.stringify(path));
    }
  };
  if (file.layer === "operator") {
    fail(uses);
    return { value: ready, settled, trusted: true };
  }

  const read = uses.filter(({ expanded }) => readsEnv(expanded));
  const claims = claimsOf(file, base, value, read, authorityItems(schema, ready, { ...around, operator }));
  // Each is judged, so that all that is refused is told at once.
  const trusted = claims.filter((claim) => !judgeClaim(file, claim, around.judge)).length === 0;
  if (trusted) {
    fail(uses);
    return { value: ready, settled, trusted };
  }
  // What the environment holds is not for a project that is not trusted, not even in a message.
  fail(uses.filter(({ expanded }) => !readsEnv(expanded)));
  for (const { path } of read) settled.add(JSON.stringify(path));
  const withheld = expandValue(schema, value, around.env, readsEnv).value;
  const own = texts.filter((path) => !settled.has(JSON.stringify(path)));
  return { value: own.length > 0 ? retyped(schema, withheld, own) : withheld, settled, trusted };
}

/** Whether a variable stands in it, be it set or not. */
function readsEnv(expanded: Expanded): boolean {
  return expanded.state === "text" ? expanded.names.length > 0 : expanded.code === "E_ENV_UNSET";
}

/** A variable is always text; where the schema wants a number or true/false, text of that form counts as one. */
function retyped(schema: z.ZodType, value: unknown, texts: readonly Path[]): unknown {
  const checked = checkValue(schema, value);
  if (checked.ok) return value;
  let result = value;
  for (const path of texts) {
    const text = valueAt(result, path);
    const typed = typeof text === "string" ? scalarOf(text.trim()) : undefined;
    const refused = checked.issues.some((issue) => samePath(issue.path, path));
    if (typed !== undefined && refused) result = replaced(result, path, typed);
  }
  return result;
}

function scalarOf(text: string): number | boolean | undefined {
  if (text === "true" || text === "false") return text === "true";
  return /^-?\d+(\.\d+)?$/.test(text) && Math.abs(Number(text)) <= Number.MAX_SAFE_INTEGER
    ? Number(text)
    : undefined;
}

function samePath(a: Path, b: Path): boolean {
  return a.length === b.length && a.every((key, i) => key === b[i]);
}

function replaced(value: unknown, path: Path, leaf: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return leaf;
  if (Array.isArray(value)) {
    return value.map((item: unknown, i) => i === key ? replaced(item, rest, leaf) : item);
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([k, item]) => [k, k === key ? replaced(item, rest, leaf) : item]),
  );
}
