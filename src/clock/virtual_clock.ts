import type { Clock } from "./clock.ts";

export interface VirtualClock extends Clock {
  /** Moves time forward, running each timer at its own instant, in order of due time. */
  advance(ms: number): Promise<void>;
  /** Sets the time of day forward or back, as an operator or NTP does: no timer notices. */
  step(ms: number): void;
  /** How many timers are armed. */
  armed(): number;
}

interface Timer {
  due: number;
  order: number;
  callback: () => void;
}

/** A clock that stands still until it is advanced. Between two timers it yields, so that what they started can run. */
export function virtualClock(startMs = Date.UTC(2026, 0, 1)): VirtualClock {
  let now = startMs;
  let set = 0;
  let order = 0;
  const timers = new Set<Timer>();

  const nextDue = (until: number): Timer | undefined => {
    let best: Timer | undefined;
    for (const timer of timers) {
      if (timer.due > until) continue;
      if (!best || timer.due < best.due || (timer.due === best.due && timer.order < best.order)) best = timer;
    }
    return best;
  };

  return {
    now: () => now + set,
    monotonic: () => now - startMs,
    after(delayMs, callback) {
      const timer: Timer = { due: now + Math.max(0, delayMs), order: order++, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    async advance(ms) {
      const until = now + ms;
      for (;;) {
        await settle();
        const timer = nextDue(until);
        if (!timer) break;
        timers.delete(timer);
        now = Math.max(now, timer.due);
        timer.callback();
      }
      now = until;
      await settle();
    },
    step: (ms) => void (set += ms),
    armed: () => timers.size,
  };
}

/** Lets pending promises and one macrotask run. */
function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
