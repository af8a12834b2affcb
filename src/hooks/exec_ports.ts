import { join } from "node:path";
import type { Audit } from "../audit/audit.ts";
import type { Clock } from "../clock/clock.ts";
import type { Allowlist } from "../consent/allowlist.ts";
import type { AskConsent } from "../consent/consent.ts";
import type { ConsentKeys } from "../consent/consent_key.ts";
import type { ErrorCode } from "../errors/catalogue.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { AgentPolicy } from "../sandbox/section.ts";
import type { PluginHost } from "../sandbox/wasm/plugin_host.ts";
import type { Directive } from "./directive.ts";
import type { ExecAction } from "./exec_action.ts";
import type { Hook } from "./hook.ts";

/** What commands of hooks need, the same for all of a session. */
export interface ExecPorts {
  sandbox: Sandbox;
  /** What runs plugins; made when first asked for. */
  plugins: () => PluginHost;
  keys: ConsentKeys;
  allowlist: Allowlist;
  clock: Clock;
  audit: Audit;
  /** reyn's own environment. */
  env: Readonly<Record<string, string | undefined>>;
  account: { home: string; name: string };
  controlDir: string;
  /** Every folder that `~` stands for. */
  homes: readonly string[];
  /** `sandbox.deny_read`. */
  denyRead: readonly string[];
  /** Every command that is declared: its code is no hook's to write. */
  commands: () => readonly ExecAction[];
  /** `sandbox.policy`, of which a run is told that it does not reach it. */
  agentPolicy: AgentPolicy;
  /** Lines for the operator. */
  warn: (text: string) => void;
  /** Puts a question of consent to whoever listens right now; undefined when nobody does. */
  asker: (firing: ExecFiring) => ConsentAsker | undefined;
  /** Aborted when the process has to go: what runs is ended. */
  signal: AbortSignal;
}

export interface ConsentAsker {
  ask: AskConsent;
  /** The answer has taken effect: what was asked for has run, or was refused. */
  settle(): Promise<void>;
}

export interface ExecFiring {
  session: string;
  point: string;
  /** Stable over a crash; what runs gets it as REYN_FIRING_ID. */
  firingId: string;
  payload: Readonly<Record<string, unknown>>;
}

export type ExecResult =
  | { verdict: "ran" }
  | { verdict: "withheld" }
  | { verdict: "push"; text: string; wake: boolean; session: string | null }
  | {
    verdict: "refused";
    reason: "consent_refused" | "sandbox_unconfirmed" | "plugin_disabled";
    error: string;
  }
  /** `said` is the end of stderr, or a plugin's own words: for whoever watches, not for the log, since it may repeat its event. */
  | { verdict: "failed"; code: ErrorCode; error: string; said?: string; saidBy?: "plugin" };

/** What is denied is denied in every home; what is granted or named is in the one that the command has as HOME. */
export function inHome(text: string, [home]: readonly string[]): string {
  return home !== undefined && (text === "~" || text.startsWith("~/")) ? join(home, text.slice(1)) : text;
}

/** An agent's own policy is for its commands. Where it opens an axis that a hook leaves open, the operator is told. */
export function tellWhatDoesNotReach(
  hook: Hook,
  action: ExecAction,
  firing: ExecFiring,
  ports: ExecPorts,
): void {
  const { network, subprocess, write_paths } = ports.agentPolicy;
  const axes = [
    ["network", "network", network, action.declared.network, false],
    ["subprocess", "subprocess", subprocess, action.declared.subprocess, false],
    ["write_paths", "write_paths", write_paths, action.declared.writePaths, []],
  ] as const;
  for (const [field, key, configured, declared, effective] of axes) {
    if (configured === undefined || declared) continue;
    ports.audit.emit("sandbox_policy_not_applied", firing.session, {
      hook: hook.label,
      policy_field: field,
      hook_key: key,
      configured: JSON.stringify(configured),
      effective: JSON.stringify(effective),
    });
    ports.warn(`hook ${hook.label}: sandbox.policy.${field} does not reach hooks; its own key is ${key}`);
  }
}

/** What a command that succeeded asks for; undefined where nobody reads its output. */
export function directiveResult(directive: Directive | undefined): ExecResult {
  switch (directive?.status) {
    case undefined:
      return { verdict: "ran" };
    case "empty":
    case "withheld":
      return { verdict: "withheld" };
    case "bad":
      return {
        verdict: "failed",
        code: "E_HOOK_DIRECTIVE",
        error: `stdout: ${directive.reason}`,
      };
    case "push":
      return { verdict: "push", text: directive.text, wake: directive.wake, session: directive.session };
  }
}
