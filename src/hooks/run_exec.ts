import { type ConsentRefusal, decideConsent } from "../consent/consent.ts";
import { shownCommand } from "../consent/shown_command.ts";
import { hookEnvironment } from "../sandbox/environment.ts";
import { canonicalPath, expandPath, isUnder } from "../sandbox/paths.ts";
import type { SandboxPolicy } from "../sandbox/policy.ts";
import type { SandboxRun } from "../sandbox/result.ts";
import { codeFiles, codeOfHooks } from "./code_files.ts";
import { parseDirective } from "./directive.ts";
import type { ExecAction } from "./exec_action.ts";
import {
  type ConsentAsker,
  directiveResult,
  type ExecFiring,
  type ExecPorts,
  type ExecResult,
  inHome,
  tellWhatDoesNotReach,
} from "./exec_ports.ts";
import type { Hook } from "./hook.ts";
import { maskSecrets } from "./mask_secrets.ts";
import { isPluginExec, runPlugin } from "./run_plugin.ts";

/** Characters of stderr that a person is shown. */
const MOST_SAID = 500;

/** Runs a hook's command or plugin: consent, then the sandbox, then what its output asks for. Never throws. */
export async function runExec(
  hook: Hook,
  action: ExecAction,
  firing: ExecFiring,
  ports: ExecPorts,
): Promise<ExecResult> {
  if (isPluginExec(action)) return await runPlugin(hook, action, firing, ports);
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
      // What `~` of its grants stands for.
      source: { ...ports.env, HOME: ports.account.home },
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

/** The confinement of one hook. The code that its argv names, and that of other hooks, is readable and never writable. */
export function policyOf(
  action: ExecAction,
  argv: readonly string[],
  ports: Pick<ExecPorts, "controlDir" | "homes" | "denyRead" | "commands">,
): SandboxPolicy {
  const { controlDir, homes, denyRead } = ports;
  const base = { controlDir, homes };
  // Without a grant nothing is writable, and nothing need be looked at.
  const others = action.grants.writePaths.length > 0 ? codeOfHooks(ports.commands(), base) : [];
  const readOnly = [...new Set([...codeFiles(argv, base), ...others])];
  const writePaths = action.grants.writePaths.map((text) => inHome(text, homes));
  return { controlDir, homes, grants: { ...action.grants, writePaths }, denyRead, readOnly };
}

export function consentRequest(
  action: ExecAction,
  argv: readonly string[],
  policy: SandboxPolicy,
  { controlDir, homes }: Pick<ExecPorts, "controlDir" | "homes">,
) {
  const { subprocess, network } = policy.grants;
  const writePaths = policy.grants.writePaths.flatMap((text) => expandPath(text, policy)).map(canonicalPath);
  const code = codeFiles(argv, { controlDir, homes });
  const isOutput = (word: string) =>
    !code.includes(word) &&
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
    point: firing.point,
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
  return directiveResult(directive);
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
    point: firing.point,
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
    point: firing.point,
    mode: action.scheme,
    command,
    reason,
    ...(detail === undefined ? {} : { detail }),
  });
  return { verdict: "refused", reason, error };
}
