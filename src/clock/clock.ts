/** The only source of time. `now` is wall-clock epoch milliseconds, `monotonic` never goes back. */
export interface Clock {
  now(): number;
  monotonic(): number;
  /** Calls back once after `delayMs`, however long; the returned function cancels. */
  after(delayMs: number, callback: () => void): () => void;
}

/** Longest delay one platform timer takes; above it the platform fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, callback) {
    const due = performance.now() + delayMs;
    let timer: ReturnType<typeof setTimeout>;
    const arm = () => {
      const left = due - performance.now();
      if (left > LONGEST_TIMER_MS) timer = setTimeout(arm, LONGEST_TIMER_MS);
      else timer = setTimeout(callback, Math.max(0, left));
    };
    arm();
    return () => clearTimeout(timer);
  },
};

/** Resolves after `delayMs`, or at once with `false` when the signal aborts first. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<boolean> {
  if (signal?.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const done = (slept: boolean) => {
      cancel();
      signal?.removeEventListener("abort", onAbort);
      resolve(slept);
    };
    const onAbort = () => done(false);
    const cancel = clock.after(delayMs, () => done(true));
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
