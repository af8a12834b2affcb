import type { FiringWatcher } from "../hooks/dispatcher.ts";
import type { SessionPorts } from "./context.ts";
import type { FireOnce } from "./firing.ts";

/**
 * Fires a point by hand in a session that is at work: composers see the event, and the hooks of the point run in the
 * background lane, behind what is there. Resolves when they have settled and what they pushed is in an inbox; what composers
 * make of the event goes on.
 */
export async function fireLive(
  { hooks, bus }: Pick<SessionPorts, "hooks" | "bus">,
  { key, kind, id, payload }: FireOnce,
  told: FiringWatcher,
): Promise<void> {
  const { promise: settled, resolve } = Promise.withResolvers<void>();
  const unwatch = hooks.watch(id, {
    ...told,
    record(type, data) {
      told.record(type, data);
      if (type === "hooks_evaluated") resolve();
    },
  });
  try {
    await hooks.room();
    const wanted = bus?.wants(kind) === true;
    // That it could not be kept is on record.
    const armed = wanted ? bus?.publish({ id, kind, payload, chainId: null })?.catch(() => {}) : undefined;
    if (hooks.has(key)) {
      // The hooks on a composed event run from the bus.
      if (!wanted || !kind.startsWith("composed:")) {
        void hooks.dispatchBehind({ key, id, payload, chainId: null });
      }
      await settled;
    }
    await armed;
  } finally {
    unwatch();
  }
}
