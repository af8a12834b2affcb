import { ReynError } from "../errors/reyn_error.ts";
import type { DispatchOutcome } from "../hooks/push.ts";
import type { SessionContext, SessionPorts } from "./context.ts";
import type { FireOnce } from "./firing.ts";
import { openJournal } from "./journal.ts";
import type { OpenSessionOptions } from "./session.ts";
import { puts, suspension } from "./turn.ts";

/**
 * Fires a point in a session without opening it for work: no session_start, no turn, no session_end. What its hooks push is
 * in the inbox when this resolves.
 */
export async function fireOnce(
  options: OpenSessionOptions,
  firing: FireOnce,
  stopping: AbortSignal,
): Promise<void> {
  const { settings, owner, leaseMs } = options;
  const { store, audit, observe, routed } = options.ports;
  const session = `${settings.agent}/${settings.sid}`;
  const claim = await store.claim(session, owner, leaseMs);
  if (claim.status === "held") {
    throw new ReynError("E_ALREADY_RUNNING", `session ${session} is run by ${claim.owner}`);
  }
  const { epoch } = claim;
  const journal = await openJournal({ session, epoch, store, audit, cap: settings.cap, observe, routed });
  const deliver = async (outcome: DispatchOutcome): Promise<void> => {
    await journal.commit(suspension(context, outcome), puts(context, outcome.pushes));
  };
  const hooks = options.hooks(deliver, stopping);
  const bus = options.bus?.(hooks) ?? null;
  const ports: SessionPorts = { ...options.ports, hooks, bus };
  const context: SessionContext = { id: session, settings, ports, journal, stopping };
  try {
    bus?.start();
    await fire(firing, ports, deliver);
    await settled(ports);
    await bus?.close();
    await settled(ports);
  } finally {
    await store.release(session, epoch);
  }
}

async function fire(
  { key, kind, id, payload }: FireOnce,
  { hooks, bus }: SessionPorts,
  deliver: (outcome: DispatchOutcome) => Promise<void>,
): Promise<void> {
  const published = bus?.wants(kind) ? bus.publish({ id, kind, payload, chainId: null }) : undefined;
  // That it could not be kept is on record.
  const armed = published?.catch(() => {});
  const runFromBus = bus?.wants(kind) === true && kind.startsWith("composed:");
  if (!runFromBus && hooks.has(key)) await deliver(await hooks.dispatch({ key, id, payload, chainId: null }));
  if (armed) await armed;
}

async function settled({ hooks, bus }: SessionPorts): Promise<void> {
  for (;;) {
    await hooks.drained();
    const queued = bus?.quiet();
    if (!queued && !hooks.busy) return;
    await queued;
  }
}
