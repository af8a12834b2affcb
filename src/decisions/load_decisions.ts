import type { Audit } from "../audit/audit.ts";
import type { Clock } from "../clock/clock.ts";
import type { JudgeTrust } from "../config/trust_claim.ts";
import type { Finding } from "../errors/finding.ts";
import { quote } from "../errors/quote.ts";
import { finding } from "../errors/reyn_error.ts";
import type { DecisionPoint } from "../points/decision_shapes.ts";
import { DECISION_POINTS } from "../points/decisions.ts";
import type { ChainHook } from "./chain.ts";
import { HooksConfigError } from "./config_error.ts";
import type { Declaration, DeclaredHook, MatchField } from "./declaration.ts";
import type { ConfigPlace } from "./find_config.ts";
import { loadIsolated } from "./isolate/isolated_executor.ts";
import { LOAD_LIMIT_MS, type Loaded, loadLocal } from "./load_local.ts";
import { compileMatch, matchProblem } from "./match_hook.ts";
import type { PluginCaller } from "./plugin_caller.ts";
import { loadPlugin } from "./plugin_executor.ts";
import { readDeclaration } from "./read_declaration.ts";
import { remoteExecutor } from "./remote/remote_executor.ts";
import { untrusted } from "./trust_claims.ts";

export interface LoadDeps {
  clock: Clock;
  home: string;
  /** The environment, looked up when a service is asked. */
  env(name: string): string | undefined;
  /** What the operator trusts of a project; without it nothing of a project is. */
  judgeTrust?: JudgeTrust | undefined;
  /** Makes the port to the sandbox of plugins; without it none can be loaded. */
  plugins?: (() => PluginCaller) | undefined;
  /** Where it is recorded what plugins say and are refused. */
  audit?: Audit | undefined;
}

/** A hook that is ready to be asked. */
export interface LoadedHook extends ChainHook {
  declared: DeclaredHook;
  points: readonly DecisionPoint[];
}

export interface LoadedDecisions {
  /** The file as findings show it; null when there is none. */
  config: string | null;
  /** Those that are enabled, in declaration order. */
  hooks: readonly LoadedHook[];
  chainTimeoutMs: number;
  close(): Promise<void>;
}

export const NO_DECISIONS: LoadedDecisions = {
  config: null,
  hooks: [],
  chainTimeoutMs: Infinity,
  close: () => Promise.resolve(),
};

/** Reads a declaration, without loading what it names. Throws a HooksConfigError with all that is wrong. */
export function requireDeclaration(place: ConfigPlace, home: string): Declaration {
  const read = readDeclaration(place.path, { ...place, home });
  if (read.ok) return read.declaration;
  throw new HooksConfigError(place.shown, read.findings);
}

/**
 * Loads what a declaration names: imports, constructs, connects nothing. Throws a HooksConfigError with everything that
 * is wrong, naming each entry; then nothing of it is left running.
 */
export async function loadDecisions(place: ConfigPlace, deps: LoadDeps): Promise<LoadedDecisions> {
  const declaration = requireDeclaration(place, deps.home);
  const refused = untrusted(place, declaration, deps);
  if (refused.length > 0) throw new HooksConfigError(place.shown, refused);
  const findings: Finding[] = [];
  const hooks: LoadedHook[] = [];
  for (const declared of declaration.hooks) {
    if (!declared.enabled) continue;
    const loaded = await loadHook(declared, place, deps);
    if ("code" in loaded) findings.push(loaded);
    else hooks.push(loaded);
  }
  const close = async () => {
    await Promise.all(hooks.map(async ({ executor }) => await executor.close?.()));
  };
  if (findings.length > 0) {
    await close();
    throw new HooksConfigError(place.shown, findings);
  }
  return { config: place.shown, hooks, chainTimeoutMs: declaration.chainTimeoutMs, close };
}

/** Loads one hook, or says what is wrong. */
export async function loadHook(
  declared: DeclaredHook,
  place: ConfigPlace,
  deps: LoadDeps,
): Promise<LoadedHook | Finding> {
  const { name, required, mode, timeoutMs, on, match } = declared;
  const rest = { subject: `hooks[${declared.index}] ${quote(name)}`, place: declared.place };
  const loaded = await loadExecutor(declared, place, deps);
  if (!loaded.ok) return finding("E_EXECUTOR_LOAD", loaded.reason, rest);
  const points = loaded.points.filter((point) => on === null || on.includes(point));
  for (const [field, pattern] of Object.entries(match)) {
    const problem = matchProblem(field as MatchField, pattern, points);
    if (problem === undefined) continue;
    await loaded.executor.close?.();
    return finding("E_HOOK_MATCHER", `match.${field}: ${problem}`, rest);
  }
  const { executor } = loaded;
  return { declared, name, required, mode, timeoutMs, points, executor, matches: compileMatch(match) };
}

async function loadExecutor(declared: DeclaredHook, place: ConfigPlace, deps: LoadDeps): Promise<Loaded> {
  const { executor } = declared;
  switch (executor.kind) {
    case "url":
      return { ok: true, points: DECISION_POINTS, executor: remoteExecutor(executor, deps) };
    case "wasm":
      return loadPlugin(executor, {
        hook: declared.name,
        folder: place.folder,
        plugins: deps.plugins,
        audit: deps.audit,
      });
    default: {
      const load = executor.isolate
        ? loadIsolated(executor, place.folder, deps.clock)
        : loadLocal(executor, place.folder);
      return await withLimit(load, deps.clock);
    }
  }
}

/** A file may wait for ever at its top level. */
function withLimit(load: Promise<Loaded>, clock: Clock): Promise<Loaded> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(LOAD_LIMIT_MS, () => {
      resolve({ ok: false, reason: `it was not loaded within ${LOAD_LIMIT_MS / 1000} s` });
      void load.then((late) => late.ok ? late.executor.close?.() : undefined, () => {});
    });
    load.then(resolve, reject).finally(cancel).catch(() => {});
  });
}
