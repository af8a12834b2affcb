import type { Clock } from "../clock/clock.ts";

/** Starts again what failed, ever more rarely, until it works or is given up by `forget`. */
export interface Retries {
  failed(id: string): void;
  forget(id: string): void;
  stop(): void;
}

const FIRST_MS = 1_000;
const LONGEST_MS = 5 * 60_000;
/** Above it the others wait for what comes in next. */
const MOST = 10_000;

export function createRetries(clock: Clock, start: (id: string) => void): Retries {
  const waiting = new Map<string, { tries: number; cancel: () => void }>();
  let stopped = false;
  return {
    failed(id) {
      if (stopped) return;
      const known = waiting.get(id);
      if (!known && waiting.size >= MOST) return;
      known?.cancel();
      const tries = known?.tries ?? 0;
      const wait = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(tries, 20));
      waiting.set(id, { tries: tries + 1, cancel: clock.after(wait, () => start(id)) });
    },
    forget(id) {
      waiting.get(id)?.cancel();
      waiting.delete(id);
    },
    stop() {
      stopped = true;
      for (const { cancel } of waiting.values()) cancel();
      waiting.clear();
    },
  };
}
