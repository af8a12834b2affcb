import { join } from "node:path";
import type { Audit } from "../audit/audit.ts";
import type { Clock } from "../clock/clock.ts";
import type { Allowlist } from "../consent/allowlist.ts";
import { type AskConsent, type ConsentRefusal, decideConsent } from "../consent/consent.ts";
import type { ConsentKeys } from "../consent/consent_key.ts";
import { shownCommand } from "../consent/shown_command.ts";
import type { ErrorCode } from "../errors/catalogue.ts";
import { hookEnvironment } from "../sandbox/environment.ts";
import { canonicalPath, expandPath, isUnder } from "../sandbox/paths.ts";
import type { SandboxPolicy } from "../sandbox/policy.ts";
import type { SandboxRun } from "../sandbox/result.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { AgentPolicy } from "../sandbox/section.ts";
import { codeFiles } from "./code_files.ts";
import { parseDirective } from "./directive.ts";
import type { ExecAction } from "./exec_action.ts";
import type { Hook } from "./hook.ts";
import { maskSecrets } from "./mask_secrets.ts";

/** Characters of stderr that a person is shown. */
const MOST_SAID = 500;

/** What commands of hooks need, the same for all of a session. */
export interface ExecPorts {
  sandbox: Sandbox;
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
  | { verdict: "refused"; reason: "consent_refused" | "sandbox_unconfirmed"; error: string }
  /** `said` is the end of stderr: for whoever watches, not for the log, since a command may repeat its event. */
  | { verdict: "failed"; code: ErrorCode; error: string; said?: string };

/** Runs a hook's command: consent, then the sandbox, then what its output asks for. Never throws. */
export async function runExec(
  hook: Hook,
  action: ExecAction,
  firing: ExecFiring,
  ports: ExecPorts,
): Promise<ExecResult> {
  const command = shownCommand(maskSecrets(action.argv));
  const program = ports.sandbox.resolveProgram(action.argv[0] ?? "", ports.controlDir);
  if (!program.ok) return launchFailed(hook, action, firing, ports, command, program.reason);
  const argv = [program.file, ...action.argv.slice(1)];
  const policy = policyOf(action, argv, ports);

  const probe = await ports.sandbox.probe();
  if (!probe.confirmed) {
    return refused(hook, action, firing, ports, command, {
      reason: "sandbox_unconfirmed",
      error: probe.reason,
    });
  }
  const asker = ports.asker(firing);
  try {
    return await askAndRun(hook, action, firing, ports, {
      command,
      argv,
      policy,
      ...(asker ? { asker } : {}),
    });
  } finally {
    await asker?.settle();
  }
}

interface Prepared {
  command: string;
  argv: readonly string[];
  policy: SandboxPolicy;
  asker?: ConsentAsker;
}

async function askAndRun(
  hook: Hook,
  action: ExecAction,
  firing: ExecFiring,
  ports: ExecPorts,
  { command, argv, policy, asker }: Prepared,
): Promise<ExecResult> {
  const consent = await decideConsent({
    key: () => ports.keys.compute(consentRequest(action, argv, policy, ports)),
    hookName: hook.name,
    hookLabel: hook.label,
    allowlist: ports.allowlist,
    env: ports.env,
    ...(asker ? { ask: asker.ask } : {}),
  });
  if (!consent.allowed) {
    const { why, reason, fix } = consent;
    return refused(hook, action, firing, ports, command, {
      reason: "consent_refused",
      detail: why,
      error: `${reason} (${fix})`,
    });
  }
  if (consent.notStored !== undefined) ports.warn(`hook ${hook.label}: ${consent.notStored}`);
  tellWhatDoesNotReach(hook, action, firing, ports);

  const run = await ports.sandbox.run({
    argv,
    cwd: ports.controlDir,
    env: hookEnvironment({
      source: ports.env,
      account: ports.account,
      controlDir: ports.controlDir,
      hook: hook.label,
      point: firing.point,
      session: firing.session,
      firingId: firing.firingId,
      network: action.grants.network,
      names: action.envNames,
    }),
    stdin: `${JSON.stringify(firing.payload)}\n`,
    policy,
    timeoutMs: action.timeoutMs,
    stdout: action.scheme === "exec_capture" ? "capture" : "ignore",
    signal: ports.signal,
    clock: ports.clock,
  });
  if (run.outcome === "sandbox_unconfirmed") {
    const error = run.reason ?? "it could not be confirmed";
    return refused(hook, action, firing, ports, command, { reason: "sandbox_unconfirmed", error });
  }
  return concluded(hook, action, firing, ports, command, run, consent.by);
}

/** The confinement of one hook. The code that its argv names is readable and never writable. */
export function policyOf(
  action: ExecAction,
  argv: readonly string[],
  ports: Pick<ExecPorts, "controlDir" | "homes" | "denyRead">,
): SandboxPolicy {
  const { controlDir, homes, denyRead } = ports;
  const readOnly = codeFiles(argv, { controlDir, homes });
  const writePaths = action.grants.writePaths.map((text) => inHome(text, homes));
  return { controlDir, homes, grants: { ...action.grants, writePaths }, denyRead, readOnly };
}

/** What is denied is denied in every home; what is granted or named is in the one that the command has as HOME. */
function inHome(text: string, [home]: readonly string[]): string {
  return home !== undefined && (text === "~" || text.startsWith("~/")) ? join(home, text.slice(1)) : text;
}

export function consentRequest(
  action: ExecAction,
  argv: readonly string[],
  policy: SandboxPolicy,
  { controlDir, homes }: Pick<ExecPorts, "controlDir" | "homes">,
) {
  const { subprocess, network } = policy.grants;
  const writePaths = policy.grants.writePaths.flatMap((text) => expandPath(text, policy)).map(canonicalPath);
  const isOutput = (word: string) =>
    !policy.readOnly.includes(word) &&
    expandPath(word, policy).every((file) =>
      writePaths.some((granted) => isUnder(canonicalPath(file), granted))
    );
  return {
    argv,
    cwd: controlDir,
    grants: { subprocess, network, writePaths },
    unbound: argv.slice(1).filter(isOutput),
    envNames: action.envNames,
    backend: "landlock",
    consentFiles: action.consentFiles.map((text) => inHome(text, homes)),
  };
}

/** An agent's own policy is for its commands. Where it opens an axis that a hook leaves open, the operator is told. */
function tellWhatDoesNotReach(hook: Hook, action: ExecAction, firing: ExecFiring, ports: ExecPorts): void {
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

function concluded(
  hook: Hook,
  action: ExecAction,
  firing: ExecFiring,
  ports: ExecPorts,
  command: string,
  run: SandboxRun,
  consent: string,
): ExecResult {
  const directive = action.scheme === "exec_capture" && run.outcome === "ok"
    ? parseDirective(run.stdout)
    : undefined;
  const outcome = directive?.status === "bad" ? "bad_directive" : run.outcome;
  ports.audit.emit("hook_shell_executed", firing.session, {
    hook: hook.label,
    mode: action.scheme,
    command,
    returncode: run.returncode,
    denial_class: run.denial?.class ?? null,
    attribution: run.denial?.attribution ?? null,
    outcome,
    duration_ms: Math.round(run.durationMs),
    consent,
  });
  if (run.outcome !== "ok") {
    const said = run.stderrTail.trim().slice(-MOST_SAID);
    const error = failureText(run);
    return { verdict: "failed", code: "E_HOOK_EXEC", error, ...(said === "" ? {} : { said }) };
  }
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

/** What ended it, and what its sandbox had to do with it. */
function failureText(run: SandboxRun): string {
  const ended = run.reason ??
    (run.outcome === "signal" ? `ended by ${run.signal ?? "a signal"}` : `exit ${run.returncode}`);
  const denial = run.denial ? `; ${run.denial.class}: ${run.denial.message}` : "";
  return `${run.outcome}: ${ended}${denial}`;
}

function launchFailed(
  hook: Hook,
  action: ExecAction,
  firing: ExecFiring,
  ports: ExecPorts,
  command: string,
  reason: string,
): ExecResult {
  ports.audit.emit("hook_shell_executed", firing.session, {
    hook: hook.label,
    mode: action.scheme,
    command,
    returncode: -1,
    denial_class: null,
    attribution: null,
    outcome: "launch_failed",
    duration_ms: 0,
  });
  return { verdict: "failed", code: "E_HOOK_EXEC", error: `launch_failed: ${action.argv[0]}: ${reason}` };
}

function refused(
  hook: Hook,
  action: ExecAction,
  firing: ExecFiring,
  ports: ExecPorts,
  command: string,
  { reason, detail, error }: {
    reason: "consent_refused" | "sandbox_unconfirmed";
    detail?: ConsentRefusal;
    error: string;
  },
): ExecResult {
  ports.audit.emit("hook_exec_refused", firing.session, {
    hook: hook.label,
    mode: action.scheme,
    command,
    reason,
    ...(detail === undefined ? {} : { detail }),
  });
  return { verdict: "refused", reason, error };
}
