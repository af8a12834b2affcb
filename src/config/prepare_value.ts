import type { z } from "zod";
import { authorityItems } from "./authority.ts";
import { checkValue } from "./check_value.ts";
import { type Env, expandValue } from "./env_expand.ts";
import { addFinding, type LoadedFile, startsRun } from "./load_file.ts";
import { valueAt } from "./path.ts";
import type { Path } from "./section.ts";

/** What the judgement of a value depends on besides the files. */
export interface Surroundings {
  controlDir: string;
  home: string;
  env: Env;
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
 * project file may not say. `base` is where the value stands in the file; `operator` what the operator's own file
 * holds there.
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
  let trusted = true;
  const project = file.layer !== "operator";
  let ready = value;
  if (file.mayExpand && startsRun(file.layer)) {
    const expanded = expandValue(schema, value, around.env, (text) => project && readsEnv(text));
    ready = expanded.value;
    const texts: Path[] = [];
    for (const { path, expanded: outcome } of expanded.uses) {
      if (outcome.state === "failed" && !(project && outcome.code === "E_ENV_UNSET")) {
        addFinding(file, [...base, ...path], outcome.code, outcome.message, { fix: outcome.fix });
        settled.add(JSON.stringify(path));
      } else if (project && (outcome.state === "failed" || readsEnv(outcome))) {
        untrusted(file, [...base, ...path], "it reads the environment", "value");
        settled.add(JSON.stringify(path));
        trusted = false;
      } else texts.push(path);
    }
    if (texts.length > 0) ready = retyped(schema, ready, texts);
  }
  if (project) {
    const items = authorityItems(schema, ready, {
      controlDir: around.controlDir,
      home: around.home,
      operator,
    });
    for (const { path, reason } of items) untrusted(file, [...base, ...path], reason, "key");
    if (items.length > 0) trusted = false;
  }
  return { value: ready, settled, trusted };
}

function readsEnv(expanded: { state: string; names?: readonly string[] }): boolean {
  return (expanded.names?.length ?? 0) > 0;
}

function untrusted(file: LoadedFile, path: Path, reason: string | undefined, at: "value" | "key"): void {
  const message = `a project file may not set this${reason === undefined ? "" : `: ${reason}`}`;
  addFinding(file, path, "E_PROJECT_UNTRUSTED", message, { fix: "only ~/.reyn/config.yaml may set it", at });
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
