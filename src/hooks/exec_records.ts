import type { ConsentRefusal } from "../consent/consent.ts";
import { shownCommand } from "../consent/shown_command.ts";
import type { ExecAction } from "./exec_action.ts";
import type { ExecFiring, ExecPorts, ExecResult } from "./exec_ports.ts";
import type { Hook } from "./hook.ts";
import { maskSecrets } from "./mask_secrets.ts";

/** The records of one run of a command or plugin, and what they mean for its hook. */
export interface ExecRecords {
  /** How it ended. */
  ended(end: ExecEnd): void;
  /** Nothing ran. */
  refused(
    reason: "consent_refused" | "sandbox_unconfirmed" | "plugin_disabled",
    error: string,
    detail?: ConsentRefusal,
  ): ExecResult;
  /** It could not be started. `file` is what was to be. */
  launchFailed(file: string, reason: string): ExecResult;
}

export interface ExecEnd {
  returncode: number;
  denial: { class: string; attribution: string } | undefined;
  outcome: string;
  durationMs: number;
  /** Who said that it may run. */
  consent: string;
}

const NOT_RUN = -1;

export function execRecords(
  hook: Hook,
  action: ExecAction,
  { session, point }: ExecFiring,
  { audit }: ExecPorts,
): ExecRecords {
  const command = shownCommand(maskSecrets(action.argv));
  const said = { hook: hook.label, point, mode: action.scheme, command };
  return {
    ended({ returncode, denial, outcome, durationMs, consent }) {
      audit.emit("hook_shell_executed", session, {
        ...said,
        returncode,
        denial_class: denial?.class ?? null,
        attribution: denial?.attribution ?? null,
        outcome,
        duration_ms: Math.round(durationMs),
        consent,
      });
    },
    refused(reason, error, detail) {
      audit.emit("hook_exec_refused", session, {
        ...said,
        reason,
        ...(detail === undefined ? {} : { detail }),
      });
      return { verdict: "refused", reason, error };
    },
    launchFailed(file, reason) {
      audit.emit("hook_shell_executed", session, {
        ...said,
        returncode: NOT_RUN,
        denial_class: null,
        attribution: null,
        outcome: "launch_failed",
        duration_ms: 0,
      });
      return { verdict: "failed", code: "E_HOOK_EXEC", error: `launch_failed: ${file}: ${reason}` };
    },
  };
}
