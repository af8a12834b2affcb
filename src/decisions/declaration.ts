import type { Finding, Place } from "../errors/finding.ts";
import type { DecisionPoint } from "../points/decision_shapes.ts";

/** The keys of `match:`, in the order in which they are documented. */
export const MATCH_FIELDS = ["repository", "kind", "actor", "loop", "harness"] as const;
export type MatchField = (typeof MATCH_FIELDS)[number];
export type MatchPatterns = Readonly<Partial<Record<MatchField, string>>>;

/** Code in this process, or in a child of it. */
export interface LocalTarget {
  kind: "module" | "path";
  /** A package specifier, or an absolute path. */
  target: string;
  /** Name of the export. */
  executor: string | null;
  with: Readonly<Record<string, unknown>>;
  /** Whether it runs in a child process that can be ended. */
  isolate: boolean;
}

/** A plugin in its sandbox. */
export interface WasmTarget {
  kind: "wasm";
  /** Absolute path of the plugin. */
  target: string;
  /** What of it is called. */
  export: string;
  /** What it finds as its config. */
  with: Readonly<Record<string, unknown>>;
}

/** A service that is asked over HTTP. */
export interface RemoteTarget {
  kind: "url";
  target: string;
  /** Name of the variable that holds the bearer token. */
  tokenEnv: string | null;
  headers: Readonly<Record<string, string>>;
  /** Name of the variable that holds the key with which requests are signed. */
  signEnv: string | null;
  breaker: { after: number; probeMs: number } | null;
}

/** Whether the executor is asked at all seven points where `on` says nothing: what it handles it cannot tell. */
export function isAskedEverywhere({ kind }: { kind: DeclaredHook["executor"]["kind"] }): boolean {
  return kind === "url" || kind === "wasm";
}

/** One entry of `hooks[]`, as it was declared and found sound. */
export interface DeclaredHook {
  index: number;
  name: string;
  /** The points that it is asked at; null: all that its code has a method for, or all seven of a service. */
  on: readonly DecisionPoint[] | null;
  required: boolean;
  enabled: boolean;
  mode: "enforce" | "observe";
  match: MatchPatterns;
  timeoutMs: number;
  executor: LocalTarget | WasmTarget | RemoteTarget;
  place: Place;
  /** The entry as it stands in the file. */
  raw: unknown;
}

/** What a `cli-config.yaml` declares. */
export interface Declaration {
  hooks: readonly DeclaredHook[];
  chainTimeoutMs: number;
}

export type ReadDeclaration =
  | { ok: true; declaration: Declaration }
  | { ok: false; findings: readonly Finding[] };
