import type { RateLimit } from "./hook.ts";

const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

/** Reads a rate that the schema has accepted. */
export function parseRate(text: string): RateLimit {
  const [count, unit] = text.split("/");
  return { count: Number(count), perMs: UNIT_MS[unit ?? "s"] ?? 1000 };
}

export interface RateLimiter {
  /** `first` marks the beginning of a limiting episode, which is recorded once. */
  admit(now: number): { admitted: true } | { admitted: false; first: boolean };
}

/** Lets `count` through at once and refills evenly over `perMs`. An episode ends with the next admission. */
export function rateLimiter(limit: RateLimit): RateLimiter {
  let tokens = limit.count;
  let at = Number.NEGATIVE_INFINITY;
  let limiting = false;
  return {
    admit(now) {
      const refill = at === Number.NEGATIVE_INFINITY
        ? 0
        : (Math.max(0, now - at) * limit.count) / limit.perMs;
      tokens = Math.min(limit.count, tokens + refill);
      at = now;
      if (tokens >= 1) {
        tokens -= 1;
        limiting = false;
        return { admitted: true };
      }
      const first = !limiting;
      limiting = true;
      return { admitted: false, first };
    },
  };
}
