import type { Hook } from "./hook.ts";

/**
 * The background lane of a session: runs that nobody waits for, one after the other. `overlap` decides for a hook
 * that is still queued or running: `queue` lines it up, `skip` leaves the new run out, `parallel` starts it at once.
 */
export interface Lane {
  /** `unbounded`: takes it however full the lane is; who adds so waits for `room` first. */
  add(hook: Hook, run: () => Promise<void>, unbounded?: boolean): "queued" | "overlap" | "full";
  readonly busy: boolean;
  /** Undefined where the lane is less than half full; else resolves when it is. */
  room(): Promise<void> | undefined;
  /** Resolves when nothing is queued or running. */
  drained(): Promise<void>;
}

const LONGEST_LANE = 256;

export function createLane(limit = LONGEST_LANE): Lane {
  const perHook = new Map<Hook, number>();
  let active = 0;
  let tail: Promise<void> = Promise.resolve();
  let wakers: (() => void)[] = [];
  let waiting: (() => void)[] = [];

  const wakeAll = (list: readonly (() => void)[]) => {
    for (const wake of list) wake();
  };

  const track = async (hook: Hook, run: () => Promise<void>): Promise<void> => {
    try {
      await run();
    } finally {
      active -= 1;
      const left = (perHook.get(hook) ?? 1) - 1;
      if (left === 0) perHook.delete(hook);
      else perHook.set(hook, left);
      if (waiting.length > 0 && active < limit / 2) {
        const roused = waiting;
        waiting = [];
        wakeAll(roused);
      }
      if (active === 0) {
        const roused = wakers;
        wakers = [];
        wakeAll(roused);
      }
    }
  };

  return {
    add(hook, run, unbounded = false) {
      if (hook.overlap === "skip" && perHook.has(hook)) return "overlap";
      if (active >= limit && !unbounded) return "full";
      active += 1;
      perHook.set(hook, (perHook.get(hook) ?? 0) + 1);
      if (hook.overlap === "parallel") void track(hook, run);
      else tail = tail.then(() => track(hook, run));
      return "queued";
    },
    get busy() {
      return active > 0;
    },
    room: () => active < limit / 2 ? undefined : new Promise((resolve) => waiting.push(resolve)),
    drained: () => active === 0 ? Promise.resolve() : new Promise((resolve) => wakers.push(resolve)),
  };
}
