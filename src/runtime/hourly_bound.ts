import type { Clock } from "../clock/clock.ts";

/** So many different things within an hour. */
export interface HourlyBound {
  /** Whether it was taken within the hour. */
  has(key: string): boolean;
  /** False: as many as there may be were taken. */
  take(key: string): boolean;
}

const HOUR_MS = 3_600_000;

export function hourlyBound(most: number, clock: Pick<Clock, "monotonic">): HourlyBound {
  /** When, the oldest first. */
  const taken = new Map<string, number>();
  return {
    has: (key) => taken.has(key),
    take(key) {
      if (taken.has(key)) return true;
      const now = clock.monotonic();
      for (const [old, at] of taken) {
        if (now - at < HOUR_MS) break;
        taken.delete(old);
      }
      if (taken.size >= most) return false;
      taken.set(key, now);
      return true;
    },
  };
}
