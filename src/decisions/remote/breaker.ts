import type { Clock } from "../../clock/clock.ts";

export interface BreakerConfig {
  /** Failures in a row after which it opens. */
  after: number;
  /** How long it stays open before one call is let through, to see. */
  probeMs: number;
}

/** Keeps calls away from a service that does not answer. */
export interface Breaker {
  /** Whether a call may go out now; the one that is let through to see must end with `succeeded` or `failed`. */
  mayCall(): boolean;
  succeeded(): void;
  failed(): void;
}

export function breaker({ after, probeMs }: BreakerConfig, clock: Clock): Breaker {
  let failures = 0;
  let openedAt = 0;
  let probing = false;
  return {
    mayCall() {
      if (failures < after) return true;
      if (probing || clock.monotonic() - openedAt < probeMs) return false;
      probing = true;
      return true;
    },
    succeeded() {
      failures = 0;
      probing = false;
    },
    failed() {
      failures++;
      probing = false;
      if (failures >= after) openedAt = clock.monotonic();
    },
  };
}
