import type { Clock } from "./clock.ts";

/** A clock that stands still until it is moved, and calls back while it moves: for what is computed, not waited for. */
export interface SteppedClock extends Clock {
  /** Moves on to an instant; what is due until then is called, at its time and in order. */
  moveTo(ms: number): void;
  /** When the next call is due; undefined: there is none. */
  nextDue(): number | undefined;
}

interface Call {
  due: number;
  callback: () => void;
}

/** Starts at epoch 0. Meant for few calls at a time, such as those of a timer queue. */
export function steppedClock(): SteppedClock {
  let now = 0;
  const calls = new Set<Call>();

  const first = (): Call | undefined => {
    let best: Call | undefined;
    for (const call of calls) if (!best || call.due < best.due) best = call;
    return best;
  };

  return {
    now: () => now,
    monotonic: () => now,
    after(delayMs, callback) {
      const call = { due: now + Math.max(0, delayMs), callback };
      calls.add(call);
      return () => calls.delete(call);
    },
    moveTo(ms) {
      for (let call = first(); call && call.due <= ms; call = first()) {
        calls.delete(call);
        now = Math.max(now, call.due);
        call.callback();
      }
      now = Math.max(now, ms);
    },
    nextDue: () => first()?.due,
  };
}
