import type { Clock } from "../../clock/clock.ts";

/** Keeps plugins that fail again and again from being run again and again. */
export interface Breaker {
  /** True when it is not to be called any more. */
  isOpen(owner: string): boolean;
  /** Milliseconds that its next call has to wait for. */
  waitMs(owner: string): number;
  /** True when this fault was the last: from now on it is not called. */
  fault(owner: string): boolean;
  /** It did what it is there for. */
  good(owner: string): void;
  faults(owner: string): number;
}

/** Faults in a row after which a plugin is not called any more. */
export const MOST_FAULTS = 5;
/** The second fault in a row makes the next call wait so long; each further one doubles it. */
const FIRST_WAIT_MS = 50;

export function openBreaker(clock: Clock): Breaker {
  const failing = new Map<string, { faults: number; notBefore: number }>();
  return {
    isOpen: (owner) => (failing.get(owner)?.faults ?? 0) >= MOST_FAULTS,
    waitMs: (owner) => Math.max(0, (failing.get(owner)?.notBefore ?? 0) - clock.monotonic()),
    fault(owner) {
      const faults = (failing.get(owner)?.faults ?? 0) + 1;
      const wait = faults < 2 ? 0 : FIRST_WAIT_MS * 2 ** (faults - 2);
      failing.set(owner, { faults, notBefore: clock.monotonic() + wait });
      return faults === MOST_FAULTS;
    },
    good: (owner) => void failing.delete(owner),
    faults: (owner) => failing.get(owner)?.faults ?? 0,
  };
}
