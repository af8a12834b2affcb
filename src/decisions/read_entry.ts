import { isAbsolute, join, resolve } from "node:path";
import { checkValue } from "../config/check_value.ts";
import { isMapping } from "../config/path.ts";
import type { Path } from "../config/section.ts";
import type { ErrorCode } from "../errors/catalogue.ts";
import { show } from "../config/scalars.ts";
import { didYouMean } from "../config/suggest.ts";
import type { Place } from "../errors/finding.ts";
import { quote } from "../errors/quote.ts";
import { pluginArgv } from "../hooks/plugin_argv.ts";
import type { DecisionPoint } from "../points/decision_shapes.ts";
import { DECISION_POINTS } from "../points/decisions.ts";
import { urlProblem } from "./check_url.ts";
import { type DeclaredHook, isAskedEverywhere, type MatchField, type MatchPatterns } from "./declaration.ts";
import { ENTRY_SCHEMAS, EXECUTOR_KINDS, type ExecutorKind, KINDS_OF_KEY } from "./entry_schema.ts";
import { matchProblem } from "./match_hook.ts";

/** Reports a finding at a path of the file. */
export type Report = (
  path: Path,
  code: ErrorCode,
  message: string,
  rest?: { fix?: string | undefined; allowed?: readonly string[] | undefined; at?: "key" | undefined },
) => void;

interface EntryContext {
  folder: string;
  home: string;
  place: Place;
  report: Report;
}

const MODULE_FILE = /\.(?:ts|mts|js|mjs)$/;
/** What of a plugin is called where nothing else is said. */
const DEFAULT_EXPORT = "run";
const PACKAGE = /^(?:@[\w~-][\w.~-]*\/)?[\w~-][\w.~-]*(?:\/[\w.~-]+)*$/;

/** Judges one entry; what is wrong is reported, and then nothing is returned. */
export function readEntry(entry: unknown, index: number, context: EntryContext): DeclaredHook | undefined {
  const { place } = context;
  let sound = true;
  const report: Report = (path, ...rest) => {
    sound = false;
    context.report(["hooks", index, ...path], ...rest);
  };
  if (!isMapping(entry)) {
    report([], "E_CONFIG_TYPE", `must be a mapping, got ${show(entry)}`);
    return undefined;
  }
  const kind = kindOf(entry, report);
  refuseForeignKeys(entry, kind, report);
  if (kind === undefined) return undefined;
  const known = Object.fromEntries(
    Object.entries(entry).filter(([key]) => KINDS_OF_KEY.get(key)?.includes(kind)),
  );
  const checked = checkValue<Entry>(ENTRY_SCHEMAS[kind] as never, known);
  if (!checked.ok) {
    for (const { path, placeAt, code, message, fix, allowed, at } of checked.issues) {
      report(at === "key" ? placeAt : path, code, message, {
        fix,
        allowed,
        at: at === "key" ? at : undefined,
      });
    }
    const target = entry[kind];
    if (typeof target === "string") executorOf(kind, { [kind]: target.trim() }, context, report);
    return undefined;
  }
  const { value } = checked;
  const on = value.on ?? null;
  const executor = executorOf(kind, value, context, report);
  const match = value.match ?? {};
  checkMatch(match, on ?? (isAskedEverywhere({ kind }) ? DECISION_POINTS : null), report);
  if (!sound || executor === undefined) return undefined;
  const { name, required, enabled, mode } = value;
  const timeoutMs = value.timeoutSeconds * 1000;
  return { index, name, on, required, enabled, mode, match, timeoutMs, executor, place, raw: entry };
}

/** What the schemas yield; which keys are there depends on the kind. */
interface Entry extends Partial<Record<ExecutorKind, string>> {
  name: string;
  on?: readonly DecisionPoint[] | null;
  required: boolean;
  enabled: boolean;
  mode: "enforce" | "observe";
  match?: MatchPatterns | null;
  timeoutSeconds: number;
  executor?: string | null;
  with?: Record<string, unknown> | null;
  isolate?: boolean;
  tokenEnv?: string;
  signEnv?: string;
  headers?: Record<string, string> | null;
  breaker?: { after: number; probe: number };
}

/** The one executor that is given; an empty value counts as not given. */
function kindOf(entry: Readonly<Record<string, unknown>>, report: Report): ExecutorKind | undefined {
  const given = EXECUTOR_KINDS.filter((kind) => {
    const value = entry[kind];
    return value !== undefined && value !== null && !(typeof value === "string" && value.trim() === "");
  });
  const [kind, second] = given;
  if (kind === undefined) {
    report([], "E_EXECUTOR_KIND", "names no executor", { fix: `give one of ${EXECUTOR_KINDS.join(", ")}` });
  } else if (second !== undefined) {
    const message = `names more than one executor: ${given.join(" and ")}`;
    report([second], "E_EXECUTOR_KIND", message, { fix: "keep one", at: "key" });
    return undefined;
  }
  return kind;
}

function refuseForeignKeys(
  entry: Readonly<Record<string, unknown>>,
  kind: ExecutorKind | undefined,
  report: Report,
): void {
  for (const key of Object.keys(entry)) {
    const kinds = KINDS_OF_KEY.get(key);
    if (kinds === undefined) {
      const known = [...KINDS_OF_KEY].filter(([, owners]) => kind === undefined || owners.includes(kind));
      const allowed = known.map(([name]) => name);
      const rest = { fix: didYouMean(key, allowed), allowed, at: "key" } as const;
      report([key], "E_KEY_UNKNOWN", `unknown key ${quote(key)}`, rest);
    } else if (kind !== undefined && !kinds.includes(kind)) {
      const message = `${quote(key)} belongs to a hook with ${kinds.join(" or ")}, and this one has ${kind}`;
      report([key], "E_EXECUTOR_KEY", message, { at: "key" });
    }
  }
}

function executorOf(
  kind: ExecutorKind,
  entry: Partial<Entry>,
  { folder, home }: EntryContext,
  report: Report,
): DeclaredHook["executor"] | undefined {
  const target = entry[kind] ?? "";
  const options = entry.with ?? {};
  const local = { executor: entry.executor ?? null, with: options, isolate: entry.isolate ?? false };
  switch (kind) {
    case "module":
      if (PACKAGE.test(target) && !target.split("/").includes("..")) return { kind, target, ...local };
      report(["module"], "E_EXECUTOR_KIND", `${quote(target)} is not the name of a package`, {
        fix: "`path` names a file",
      });
      return undefined;
    case "path":
      if (MODULE_FILE.test(target)) return { kind, target: absolute(target, folder, home), ...local };
      report(["path"], "E_EXECUTOR_KIND", `${quote(target)} is no file of TypeScript or JavaScript`, {
        fix: "its name ends in .ts, .mts, .js or .mjs",
      });
      return undefined;
    case "wasm": {
      const plugin = pluginArgv(target);
      if (plugin !== undefined) {
        const { file, export: name = DEFAULT_EXPORT } = plugin;
        return { kind, target: absolute(file, folder, home), export: name, with: options };
      }
      const fix = "its name ends in .wasm; behind # stands the export that is called";
      report(["wasm"], "E_EXECUTOR_KIND", `${quote(target)} is no plugin`, { fix });
      return undefined;
    }
    case "url": {
      const problem = urlProblem(target);
      if (problem) {
        report(["url"], "E_EXECUTOR_URL", problem.message, { fix: problem.fix });
        return undefined;
      }
      const { tokenEnv = null, signEnv = null, headers, breaker } = entry;
      const probing = breaker ? { after: breaker.after, probeMs: breaker.probe * 1000 } : null;
      return { kind, target, tokenEnv, signEnv, headers: headers ?? {}, breaker: probing };
    }
  }
}

function checkMatch(match: MatchPatterns, points: readonly DecisionPoint[] | null, report: Report): void {
  if (points === null) return;
  for (const [field, pattern] of Object.entries(match)) {
    const problem = matchProblem(field as MatchField, pattern, points);
    if (problem !== undefined) report(["match", field], "E_HOOK_MATCHER", problem);
  }
}

function absolute(path: string, folder: string, home: string): string {
  if (path === "~" || path.startsWith("~/")) return join(home, path.slice(1));
  return isAbsolute(path) ? path : resolve(folder, path);
}
