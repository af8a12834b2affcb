import type { Hook } from "./hook.ts";

/**
 * The background lane of a session: runs that nobody waits for, one after the other. `overlap` decides for a hook
 * that is still queued or running: `queue` lines it up, `skip` leaves the new run out, `parallel` starts it at once.
 */
export interface Lane {
  add(hook: Hook, run: () => Promise<void>): "queued" | "overlap" | "full";
  readonly busy: boolean;
  /** Resolves when nothing is queued or running. */
  drained(): Promise<void>;
}

const LONGEST_LANE = 256;

export function createLane(limit = LONGEST_LANE): Lane {
  const perHook = new Map<Hook, number>();
  let active = 0;
  let tail: Promise<void> = Promise.resolve();
  let wakers: (() => void)[] = [];

  const track = async (hook: Hook, run: () => Promise<void>): Promise<void> => {
    try {
      await run();
    } finally {
      active -= 1;
      const left = (perHook.get(hook) ?? 1) - 1;
      if (left === 0) perHook.delete(hook);
      else perHook.set(hook, left);
      if (active === 0) {
        const waiting = wakers;
        wakers = [];
        for (const wake of waiting) wake();
      }
    }
  };

  return {
    add(hook, run) {
      if (hook.overlap === "skip" && perHook.has(hook)) return "overlap";
      if (active >= limit) return "full";
      active += 1;
      perHook.set(hook, (perHook.get(hook) ?? 0) + 1);
      if (hook.overlap === "parallel") void track(hook, run);
      else tail = tail.then(() => track(hook, run));
      return "queued";
    },
    get busy() {
      return active > 0;
    },
    drained: () => active === 0 ? Promise.resolve() : new Promise((resolve) => wakers.push(resolve)),
  };
}
