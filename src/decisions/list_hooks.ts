import type { Finding } from "../errors/finding.ts";
import type { DecisionPoint } from "../points/decision_shapes.ts";
import { isAskedEverywhere } from "./declaration.ts";
import type { ConfigPlace } from "./find_config.ts";
import { type LoadDeps } from "./load_decisions.ts";
import { untrusted } from "./trust_claims.ts";
import { readDeclaration } from "./read_declaration.ts";

/** One decision hook as it is declared. Values of headers are masked; variables are named, never their values. */
export interface DecisionRow {
  name: string;
  kind: "module" | "path" | "url" | "wasm";
  target: string;
  /** Null: every point of a service or a plugin, the points that a local hook has methods for. */
  on: readonly DecisionPoint[] | null;
  required: boolean;
  enabled: boolean;
  mode: "enforce" | "observe";
  match: Readonly<Record<string, string>>;
  timeoutSeconds: number;
  /** Whether it may run: false for a hook of a project that the operator does not trust. */
  trusted: boolean;
  /** Of a plugin: what is called. */
  export?: string;
  executor?: string | null;
  isolate?: boolean;
  with?: Readonly<Record<string, unknown>>;
  tokenEnv?: string | null;
  signEnv?: string | null;
  headers?: Readonly<Record<string, string>>;
  breaker?: { after: number; probe: number } | null;
}

export interface DecisionListing {
  /** The file as findings show it; null when there is none. */
  config: string | null;
  hooks: readonly DecisionRow[];
  /** Null: not bounded. */
  chainTimeoutSeconds: number | null;
  /** What is wrong; then `hooks` is empty, and `reyn hooks` exits 1. */
  findings: readonly Finding[];
}

const MASK = "***";

/** The declaration, with nothing imported and nothing contacted. */
export function listDecisionHooks(
  place: ConfigPlace | undefined,
  deps: Pick<LoadDeps, "home" | "judgeTrust">,
): DecisionListing {
  if (place === undefined) return { config: null, hooks: [], chainTimeoutSeconds: null, findings: [] };
  const config = place.shown;
  const read = readDeclaration(place.path, { ...place, home: deps.home });
  if (!read.ok) return { config, hooks: [], chainTimeoutSeconds: null, findings: read.findings };
  const { declaration } = read;
  const refused = untrusted(place, declaration, deps).map(({ place: at }) => at);
  const hooks = declaration.hooks.map((hook): DecisionRow => {
    const { name, on, required, enabled, mode, match, timeoutMs, executor } = hook;
    const { kind, target } = executor;
    const common = {
      name,
      kind,
      target,
      on,
      required,
      enabled,
      mode,
      match,
      timeoutSeconds: timeoutMs / 1000,
    };
    const row = { ...common, trusted: !refused.includes(hook.place) };
    switch (executor.kind) {
      case "url": {
        const { tokenEnv, signEnv, breaker } = executor;
        const headers = Object.fromEntries(Object.keys(executor.headers).map((header) => [header, MASK]));
        const probing = breaker && { after: breaker.after, probe: breaker.probeMs / 1000 };
        return { ...row, tokenEnv, signEnv, headers, breaker: probing };
      }
      case "wasm":
        return { ...row, export: executor.export, with: executor.with };
      default:
        return { ...row, executor: executor.executor, isolate: executor.isolate, with: executor.with };
    }
  });
  const { chainTimeoutMs } = declaration;
  return {
    config,
    hooks,
    chainTimeoutSeconds: Number.isFinite(chainTimeoutMs) ? chainTimeoutMs / 1000 : null,
    findings: [],
  };
}

/** One line a hook, for people. */
export function decisionRowText(row: DecisionRow): string {
  const points = row.on?.join(", ") ?? (isAskedEverywhere(row) ? "every point" : "the points of its methods");
  const words = [
    row.name,
    `${row.kind} ${row.target}`,
    points,
    `${row.timeoutSeconds} s`,
    row.export !== undefined && row.export !== "run" ? `export ${row.export}` : "",
    row.executor ? `executor ${row.executor}` : "",
    row.with && Object.keys(row.with).length > 0 ? `with ${JSON.stringify(row.with)}` : "",
    row.tokenEnv ? `token from ${row.tokenEnv}` : "",
    row.signEnv ? `signed with ${row.signEnv}` : "",
    row.isolate ? "isolated" : "",
    row.required ? "required" : "",
    row.mode === "observe" ? "observes" : "",
    ...Object.entries(row.match).map(([field, pattern]) => `${field}=${pattern}`),
    row.enabled ? "" : "DISABLED",
    row.trusted ? "" : "NOT TRUSTED",
  ];
  return words.filter((word) => word !== "").join("  ");
}
