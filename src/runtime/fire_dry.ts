import { shownCommand } from "../consent/shown_command.ts";
import type { ExecAction } from "../hooks/exec_action.ts";
import { type Hook, targetKey } from "../hooks/hook.ts";
import { hookRegistry } from "../hooks/registry.ts";
import { renderPush } from "../hooks/template_push.ts";
import type { HookTarget } from "../points/reactions.ts";
import type { Configuration } from "./configuration.ts";
import { consentFields, type ConsentState, type ConsentStates } from "./consent_state.ts";
import type { Payload } from "./fire_payload.ts";
import { stateOf } from "./hook_listing.ts";

/** What a hook would do at a firing. */
export interface DryHook {
  hook: string;
  layer: string;
  /**
   * `push` and `run` would happen; `withheld`: its push_when is false; `refused`: without consent. `pushed`, `ran` and the
   * like stand here after a real run: see `Verdict`.
   */
  verdict: string;
  /** The field that did not match, or that could not be rendered. */
  field?: string;
  reason?: string;
  rendered?: { message: string; wake: boolean; push_when: boolean; session: string | null };
  argv?: readonly string[];
  command?: string;
  cwd?: string;
  grants?: { subprocess: boolean; network: boolean; write_paths: readonly string[] };
  env?: readonly string[];
  consent?: ReturnType<typeof consentFields>;
  /** After a real run: what came of the command. */
  outcome?: string;
}

export interface FireDryOptions {
  configuration: Configuration;
  controlDir: string;
  target: HookTarget;
  payload: Payload;
  consents: ConsentStates;
}

/** Goes through the hooks of a point as a firing would, and runs none. */
export async function fireDry(options: FireDryOptions): Promise<DryHook[]> {
  const hooks = hookRegistry(options.configuration.hooks).at(targetKey(options.target)) ?? [];
  const told: DryHook[] = [];
  for (const hook of hooks) told.push(await dryHook(hook, options));
  return told;
}

async function dryHook(hook: Hook, options: FireDryOptions): Promise<DryHook> {
  const { configuration, controlDir, payload, consents } = options;
  const about = { hook: hook.label, layer: hook.layer };
  const { action } = hook;
  const shown = action.scheme === "exec" || action.scheme === "exec_capture"
    ? await dryCommand(hook, action, controlDir, consents)
    : undefined;
  const state = stateOf(hook, configuration);
  if (state !== "enabled") {
    const reason = state === "disabled" ? "its entry says enabled: false" : "this session has disabled it";
    return { ...about, verdict: "disabled", reason, ...shown?.fields };
  }
  const field = hook.matcher?.failedField(payload) ?? null;
  if (field !== null) return { ...about, verdict: "matcher", field, ...shown?.fields };
  if (shown) return { ...about, verdict: shown.verdict, ...shown.fields };
  if (action.scheme !== "template_push") {
    return { ...about, verdict: "failed", reason: `${action.scheme} does not run yet` };
  }
  const result = renderPush(action.push, payload);
  switch (result.status) {
    case "withheld":
      return { ...about, verdict: "withheld" };
    case "failed":
      return { ...about, verdict: "failed", field: result.field, reason: result.rendered ?? result.error };
    case "push": {
      const { text, wake, session } = result;
      return { ...about, verdict: "push", rendered: { message: text, wake, push_when: true, session } };
    }
  }
}

async function dryCommand(hook: Hook, action: ExecAction, controlDir: string, consents: ConsentStates) {
  const consent: ConsentState | null = await consents.of(hook);
  const key = consent && consent.state !== "cannot_run" ? consent.key : undefined;
  const argv = key?.argv ?? action.argv;
  const { subprocess, network, writePaths } = key?.grants ?? action.grants;
  const fields: Partial<DryHook> = {
    argv,
    command: shownCommand(argv),
    cwd: controlDir,
    grants: { subprocess, network: network === true, write_paths: writePaths },
    env: action.envNames,
    ...(consent ? { consent: consentFields(consent) } : {}),
  };
  const verdict = consent?.state === "approved"
    ? "run"
    : consent?.state === "cannot_run"
    ? "failed"
    : "refused";
  return { verdict, fields };
}
