import type { Allowlist } from "../consent/allowlist.ts";
import { ACCEPT_HOOKS, acceptsAll } from "../consent/consent.ts";
import type { ConsentKey, ConsentKeys } from "../consent/consent_key.ts";
import { consentKeys } from "../consent/consent_key.ts";
import { shownCommand } from "../consent/shown_command.ts";
import type { Hook } from "../hooks/hook.ts";
import { compileGlob } from "../match/mod.ts";
import type { Configuration } from "./configuration.ts";
import { approvals, commandOf } from "./consent_verbs.ts";

/** Whether a hook's command could run now, and why. */
export type ConsentState =
  | { state: "approved"; by: "allowlist" | "environment"; key: ConsentKey }
  | { state: "changed" | "not_approved"; reason: string; fix: string; key: ConsentKey }
  /** Its program is missing, or consent cannot be bound to it. */
  | { state: "cannot_run"; reason: string };

export interface ConsentStates {
  /** Null for a hook that runs no command. */
  of(hook: Hook): Promise<ConsentState | null>;
  allowlist: Allowlist;
}

/** Looks at files and the allowlist, and starts nothing. */
export function consentStates(
  configuration: Configuration,
  controlDir: string,
  env: Readonly<Record<string, string | undefined>>,
): ConsentStates {
  const allowlist = approvals(controlDir);
  const keys: ConsentKeys = consentKeys({ compileGlob });
  return {
    allowlist,
    async of({ action, label }) {
      if (action.scheme !== "exec" && action.scheme !== "exec_capture") return null;
      const command = await commandOf(action, configuration, controlDir, keys);
      if (!command.ok) return { state: "cannot_run", reason: command.reason };
      const { key } = command;
      const found = await allowlist.find(key, label);
      if (found.status === "approved") return { state: "approved", by: "allowlist", key };
      if (acceptsAll(env)) return { state: "approved", by: "environment", key };
      const fix = `reyn hooks allow ${shownCommand([label])}`;
      return found.status === "changed"
        ? { state: "changed", reason: `it changed since it was approved: ${found.what.join("; ")}`, fix, key }
        : { state: "not_approved", reason: "it is not approved", fix, key };
    },
  };
}

/** The state as JSON tells it, without the key. */
export function consentFields(consent: ConsentState) {
  if (consent.state === "approved") return { state: consent.state, by: consent.by };
  if (consent.state === "cannot_run") return { state: consent.state, reason: consent.reason };
  return { state: consent.state, reason: consent.reason, fix: consent.fix };
}

/** In words. */
export function consentText(consent: ConsentState): string {
  switch (consent.state) {
    case "approved":
      return consent.by === "allowlist" ? "approved" : `approved for this process by ${ACCEPT_HOOKS}=1`;
    case "cannot_run":
      return `cannot run: ${consent.reason}`;
    case "changed":
    case "not_approved":
      return `${consent.reason}; \`${consent.fix}\` approves it`;
  }
}
