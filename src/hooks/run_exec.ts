import { hookEnvironment } from "../sandbox/environment.ts";
import { canonicalPath, expandPath, isUnder } from "../sandbox/paths.ts";
import type { SandboxPolicy } from "../sandbox/policy.ts";
import type { SandboxRun } from "../sandbox/result.ts";
import { codeFiles, codeOfHooks } from "./code_files.ts";
import { parseDirective } from "./directive.ts";
import type { ExecAction } from "./exec_action.ts";
import { directiveResult, type ExecFiring, type ExecPorts, type ExecResult, inHome } from "./exec_ports.ts";
import { type ExecRecords, execRecords } from "./exec_records.ts";
import type { Hook } from "./hook.ts";
import { isPluginExec, runPlugin } from "./run_plugin.ts";
import { runWhenAllowed } from "./run_when_allowed.ts";

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
  const records = execRecords(hook, action, firing, ports);
  const program = ports.sandbox.resolveProgram(action.argv[0] ?? "", ports.controlDir);
  if (!program.ok) return records.launchFailed(action.argv[0] ?? "", program.reason);
  const argv = [program.file, ...action.argv.slice(1)];
  const policy = policyOf(action, argv, ports);
  return await runWhenAllowed(hook, action, firing, ports, {
    records,
    request: () => consentRequest(action, argv, policy, ports),
    async run(consent) {
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
        return records.refused("sandbox_unconfirmed", run.reason ?? "it could not be confirmed");
      }
      return concluded(action, run, records, consent);
    },
  });
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
  action: ExecAction,
  run: SandboxRun,
  records: ExecRecords,
  consent: string,
): ExecResult {
  const directive = action.scheme === "exec_capture" && run.outcome === "ok"
    ? parseDirective(run.stdout)
    : undefined;
  records.ended({
    returncode: run.returncode,
    denial: run.denial ?? undefined,
    outcome: directive?.status === "bad" ? "bad_directive" : run.outcome,
    durationMs: run.durationMs,
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
