import type { ConsentRequest } from "../consent/consent_key.ts";
import { decideConsent } from "../consent/consent.ts";
import type { ExecAction } from "./exec_action.ts";
import { type ExecFiring, type ExecPorts, type ExecResult, tellWhatDoesNotReach } from "./exec_ports.ts";
import type { ExecRecords } from "./exec_records.ts";
import type { Hook } from "./hook.ts";

export interface GuardedRun {
  records: ExecRecords;
  /** What consent is asked for; computed when it is. */
  request: () => ConsentRequest;
  /** `consent`: who said that it may run. */
  run: (consent: string) => Promise<ExecResult>;
}

/** Runs what a hook names once the sandbox is confirmed and somebody has said that it may. */
export async function runWhenAllowed(
  hook: Hook,
  action: ExecAction,
  firing: ExecFiring,
  ports: ExecPorts,
  { records, request, run }: GuardedRun,
): Promise<ExecResult> {
  const probe = await ports.sandbox.probe();
  if (!probe.confirmed) return records.refused("sandbox_unconfirmed", probe.reason);
  const asker = ports.asker(firing);
  try {
    const consent = await decideConsent({
      key: () => ports.keys.compute(request()),
      hookName: hook.name,
      hookLabel: hook.label,
      allowlist: ports.allowlist,
      env: ports.env,
      ...(asker ? { ask: asker.ask } : {}),
    });
    if (!consent.allowed) {
      return records.refused("consent_refused", `${consent.reason} (${consent.fix})`, consent.why);
    }
    if (consent.notStored !== undefined) ports.warn(`hook ${hook.label}: ${consent.notStored}`);
    tellWhatDoesNotReach(hook, action, firing, ports);
    return await run(consent.by);
  } finally {
    await asker?.settle();
  }
}
