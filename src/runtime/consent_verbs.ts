import { systemClock } from "../clock/clock.ts";
import { didYouMean } from "../config/suggest.ts";
import { type Allowlist, openAllowlist } from "../consent/allowlist.ts";
import {
  type ConsentKey,
  type ConsentKeys,
  consentKeys,
  type ConsentRequest,
} from "../consent/consent_key.ts";
import { type ConsentQuestion, consentQuestion } from "../consent/question.ts";
import { quote } from "../errors/quote.ts";
import { ReynError } from "../errors/reyn_error.ts";
import type { ExecAction } from "../hooks/exec_action.ts";
import type { Hook } from "../hooks/hook.ts";
import { hookRegistry } from "../hooks/registry.ts";
import { consentRequest, policyOf } from "../hooks/run_exec.ts";
import { isPluginExec, pluginConsent, type PluginExec } from "../hooks/run_plugin.ts";
import { compileGlob } from "../match/mod.ts";
import { resolveProgram } from "../sandbox/program.ts";
import { loadModule } from "../sandbox/wasm/load_module.ts";
import type { Configuration } from "./configuration.ts";
import { deniedBesides, type Surroundings, surroundings } from "./surroundings.ts";

/** What an approval of a hook's command would stand for, as the disk is now. */
export interface Approval {
  hook: Hook;
  key: ConsentKey;
  question: ConsentQuestion;
  allowlist: Allowlist;
}

/** Finds a hook that runs a command, by its name or `<layer>#<index>`, and what an approval of it covers. Throws E_HOOK_UNKNOWN. */
export async function approvalOf(
  configuration: Configuration,
  controlDir: string,
  name: string,
): Promise<Approval> {
  const { hook, action } = commandHook(configuration, name);
  const command = await commandOf(action, configuration, controlDir, consentKeys({ compileGlob }));
  if (!command.ok) {
    throw new ReynError("E_HOOK_EXEC", command.reason, command.fix === undefined ? {} : { fix: command.fix });
  }
  const { key } = command;
  return { hook, key, question: consentQuestion(key, hook.name), allowlist: approvals(controlDir) };
}

export type Command =
  | { ok: true; key: ConsentKey }
  | { ok: false; reason: string; fix?: string };

/** What a hook would run, as the disk is now. */
export async function commandOf(
  action: ExecAction,
  configuration: Configuration,
  controlDir: string,
  keys: ConsentKeys,
): Promise<Command> {
  const around = surroundings(controlDir);
  const request = isPluginExec(action)
    ? pluginRequest(action, around)
    : commandRequest(action, around, configuration);
  if (!request.ok) return request;
  const computed = await keys.compute(request.of);
  return computed.ok ? { ok: true, key: computed.key } : computed;
}

type Request = { ok: true; of: ConsentRequest } | { ok: false; reason: string };

function pluginRequest(action: PluginExec, around: Surroundings): Request {
  const { file, export: exportName, memoryBytes } = action.plugin;
  const loaded = loadModule(file, { controlDir: around.controlDir, exportName, memoryBytes });
  if (loaded.ok) return { ok: true, of: pluginConsent(action, loaded, around) };
  return { ok: false, reason: `${quote(file)} cannot be run: ${loaded.reason}` };
}

function commandRequest(action: ExecAction, around: Surroundings, configuration: Configuration): Request {
  const { controlDir } = around;
  const program = resolveProgram(action.argv[0] ?? "", { controlDir });
  if (!program.ok) {
    return { ok: false, reason: `${quote(action.argv[0] ?? "")} cannot be started: ${program.reason}` };
  }
  const argv = [program.file, ...action.argv.slice(1)];
  const denyRead = deniedBesides(configuration.sandbox, around);
  const policy = policyOf(action, argv, { ...around, denyRead, commands: () => [] });
  return { ok: true, of: consentRequest(action, argv, policy, around) };
}

/** The operator's allowlist. */
export function approvals(controlDir: string): Allowlist {
  const { allowlistPath, allowlistProblem } = surroundings(controlDir);
  return openAllowlist({ path: allowlistPath, problem: allowlistProblem, clock: systemClock });
}

function commandHook(configuration: Configuration, name: string): { hook: Hook; action: ExecAction } {
  const { all } = hookRegistry(configuration.hooks);
  const hook = all.find((one) => one.label === name) ?? all.find((one) => one.name === name);
  if (!hook) {
    const labels = all.map((one) => one.label);
    const fix = didYouMean(name, labels) ?? `hooks: ${labels.join(", ") || "none"}`;
    throw new ReynError("E_HOOK_UNKNOWN", `no hook is called ${quote(name)}`, { fix });
  }
  const { action } = hook;
  if (action.scheme === "exec" || action.scheme === "exec_capture") return { hook, action };
  throw new ReynError(
    "E_HOOK_UNKNOWN",
    `hook ${quote(name)} runs no command, so there is nothing to approve`,
  );
}
