import type { Clock } from "../clock/clock.ts";
import type { Finding } from "../errors/finding.ts";
import { type Hook, targetKey } from "../hooks/hook.ts";
import { hookRegistry } from "../hooks/registry.ts";
import { FAULTS } from "../sandbox/wasm/result.ts";
import type { Configuration } from "./configuration.ts";
import { type ConsentState, consentStates } from "./consent_state.ts";
import { explainVerdict } from "./explain_verdict.ts";
import { firstDayRead, readFirings } from "./hook_log.ts";

/** One declared hook, and what the log says it has done. */
export interface ListedHook {
  hook: string;
  family: "reaction";
  layer: string;
  index: number;
  point: string;
  scheme: string;
  /** `disabled`: by its own entry; `disabled_here`: by this session. */
  state: "enabled" | "disabled" | "disabled_here";
  /** Null for a hook that runs no plugin. */
  plugin: ListedPlugin | null;
  consent: ConsentState | null;
  counts: HookCounts;
  last: { timestamp: string; verdict: string; text: string } | null;
}

/** A plugin and what it is granted, as declared. */
export interface ListedPlugin {
  module: string;
  export: string;
  /** Most memory, in bytes. */
  memory: number;
  network: boolean | readonly string[];
  read_paths: readonly string[];
  write_paths: readonly string[];
  /** Times that its instance was thrown away after a fault, to be made anew. */
  restarts: number;
}

export interface HookCounts {
  /** Firings of its point that it was looked at for. */
  evaluated: number;
  /** Of these, those at which it matched and was not disabled. */
  matched: number;
  /** Of these, those at which it did what it is there for: pushed, ran, or withheld a push. */
  done: number;
  failed: number;
  refused: number;
}

export interface HookListing {
  hooks: ListedHook[];
  /** The counts begin at this day; null when they begin with the log. */
  countedSince: string | null;
  problems: Finding[];
}

export interface ListHooksOptions {
  configuration: Configuration;
  controlDir: string;
  clock: Clock;
  env: Readonly<Record<string, string | undefined>>;
}

const ENDS_INSTANCE: ReadonlySet<string> = FAULTS;

/** Every declared hook. Reads files and the audit log; runs nothing. */
export async function listHooks(options: ListHooksOptions): Promise<HookListing> {
  const { configuration, controlDir, clock, env } = options;
  const problems: Finding[] = [];
  const done = new Map<string, { counts: HookCounts; faults: number; last: ListedHook["last"] }>();
  for await (
    const firing of readFirings({
      controlDir,
      clock,
      onProblem: (one) => void problems.push(one),
    })
  ) {
    for (const [hook, verdict] of firing.verdicts) {
      const told = done.get(hook) ?? { counts: noCounts(), faults: 0, last: null };
      done.set(hook, told);
      count(told.counts, verdict);
      if (verdict === "disabled" || verdict === "queued" || verdict.startsWith("matcher:")) continue;
      const { outcome } = firing.details.get(hook) ?? {};
      if (outcome !== undefined && ENDS_INSTANCE.has(outcome)) told.faults += 1;
      const text = explainVerdict(verdict, firing.details.get(hook));
      told.last = { timestamp: firing.timestamp, verdict, text };
    }
  }
  const states = consentStates(configuration, controlDir, env);
  const hooks: ListedHook[] = [];
  for (const hook of hookRegistry(configuration.hooks).all) {
    const { counts, faults, last } = done.get(hook.label) ?? { counts: noCounts(), faults: 0, last: null };
    hooks.push({
      hook: hook.label,
      family: "reaction",
      layer: hook.layer,
      index: hook.index,
      point: targetKey(hook.target),
      scheme: hook.action.scheme,
      state: stateOf(hook, configuration),
      plugin: pluginOf(hook, faults),
      consent: await states.of(hook),
      counts,
      last,
    });
  }
  if (hooks.some(({ consent }) => consent !== null)) problems.push(...await states.allowlist.problems());
  return { hooks, countedSince: await firstDayRead(controlDir), problems };
}

export function stateOf(hook: Hook, { disabled }: Configuration): ListedHook["state"] {
  if (!hook.enabled) return "disabled";
  return hook.name !== null && disabled.has(hook.name) ? "disabled_here" : "enabled";
}

function pluginOf({ action }: Hook, restarts: number): ListedPlugin | null {
  if ((action.scheme !== "exec" && action.scheme !== "exec_capture") || !action.plugin) return null;
  const { file, export: exported, memoryBytes, network, readPaths } = action.plugin;
  return {
    module: file,
    export: exported,
    memory: memoryBytes,
    network,
    read_paths: readPaths,
    write_paths: action.grants.writePaths,
    restarts,
  };
}

function noCounts(): HookCounts {
  return { evaluated: 0, matched: 0, done: 0, failed: 0, refused: 0 };
}

function count(counts: HookCounts, verdict: string): void {
  // What was queued is counted by the record of its own run.
  if (verdict === "queued") return;
  counts.evaluated += 1;
  if (verdict === "disabled" || verdict.startsWith("matcher:")) return;
  counts.matched += 1;
  if (verdict === "failed") counts.failed += 1;
  else if (verdict === "refused") counts.refused += 1;
  else if (verdict === "pushed" || verdict === "ran" || verdict === "withheld") counts.done += 1;
}
