import { type DispatchOutcome, NOTHING } from "../hooks/push.ts";
import { namespacedName, type ReactionPayloads } from "../points/reactions.ts";
import type { SessionContext } from "./context.ts";

/** The points that a session fires itself. */
export type SessionPoint = "session_start" | "session_end" | "turn_start" | "turn_end";

/** False: firing the point would do nothing. */
export function hasListeners({ ports }: SessionContext, point: SessionPoint): boolean {
  return ports.hooks.has(point) || ports.bus?.wants(namespacedName(point)) === true;
}

/**
 * Fires a point: on the bus first, then its hooks. Settles when the hooks that are awaited have and what composers have
 * armed is on disk, or could not be written, which is on record then.
 */
export async function firePoint<P extends SessionPoint>(
  { ports }: SessionContext,
  point: P,
  { id, chainId, payload }: { id: string; chainId: string | null; payload: ReactionPayloads[P] },
): Promise<DispatchOutcome> {
  const kind = namespacedName(point);
  const published = ports.bus?.wants(kind)
    ? ports.bus.publish({ id, kind, payload: { ...payload }, chainId })
    : undefined;
  const armed = published?.catch(() => {});
  const outcome = ports.hooks.has(point)
    ? await ports.hooks.dispatch({ key: point, id, chainId, payload: { ...payload } })
    : NOTHING;
  if (armed) await armed;
  return outcome;
}
