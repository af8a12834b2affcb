import type { Clock } from "./clock.ts";
import { type SteadyTime, steadyTime } from "./steady.ts";

/** One armed timer. */
export interface Timer {
  cancel(): void;
}

/**
 * All timers of a runtime behind one timer of the platform, which is set for the earliest. Timers are never early,
 * fire in order of their due time (those of one instant in the order they were armed), and in silence.
 */
export interface TimerQueue extends SteadyTime {
  /** Calls back once, when `now()` has reached `due`; never from inside this call. */
  at(due: number, callback: () => void): Timer;
  /** How many are armed. */
  readonly armed: number;
  /** Cancels all; later `at` calls never fire. */
  close(): void;
}

interface Entry extends Timer {
  due: number;
  order: number;
  /** Null: fired or cancelled. */
  callback: (() => void) | null;
}

/** After so long in callbacks, everything else gets a turn. */
const SLICE_MS = 2;
/** Cancelled entries are swept out of the heap when there are more of them than this, and than armed ones. */
const SWEEP_ABOVE = 64;

/** @param onError told of what a callback throws; the others fire all the same */
export function createTimerQueue(clock: Clock, onError: (error: unknown) => void): TimerQueue {
  const steady = steadyTime(clock);
  let heap: Entry[] = [];
  let order = 0;
  let armed = 0;
  let closed = false;
  let wakeAt = Infinity;
  let cancelWake: (() => void) | null = null;

  const wakeFor = (due: number): void => {
    if (closed || due >= wakeAt) return;
    cancelWake?.();
    wakeAt = due;
    cancelWake = clock.after(Math.max(0, due - steady.now()), wake);
  };

  const wake = (): void => {
    wakeAt = Infinity;
    cancelWake = null;
    const started = clock.monotonic();
    for (;;) {
      const first = heap[0];
      if (!first) return;
      const now = steady.now();
      if (first.callback !== null && (first.due > now || clock.monotonic() - started > SLICE_MS)) {
        wakeFor(Math.max(first.due, now));
        return;
      }
      removeFirst(heap);
      const { callback } = first;
      if (callback === null) continue;
      first.callback = null;
      armed -= 1;
      try {
        callback();
      } catch (error) {
        onError(error);
      }
    }
  };

  const sweep = (): void => {
    if (heap.length - armed <= Math.max(SWEEP_ABOVE, armed)) return;
    // A sorted list is a heap.
    heap = heap.filter((entry) => entry.callback !== null).sort(before);
  };

  return {
    ...steady,
    at(due, callback) {
      const entry: Entry = {
        due,
        order: order++,
        callback: closed ? null : callback,
        cancel() {
          if (entry.callback === null) return;
          entry.callback = null;
          armed -= 1;
          sweep();
        },
      };
      if (closed) return entry;
      armed += 1;
      insert(heap, entry);
      wakeFor(due);
      return entry;
    },
    get armed() {
      return armed;
    },
    close() {
      closed = true;
      cancelWake?.();
      cancelWake = null;
      for (const entry of heap) entry.callback = null;
      heap = [];
      armed = 0;
    },
  };
}

function before(a: Entry, b: Entry): number {
  return a.due - b.due || a.order - b.order;
}

function insert(heap: Entry[], entry: Entry): void {
  let at = heap.length;
  heap.push(entry);
  while (at > 0) {
    const up = (at - 1) >> 1;
    const parent = heap[up] as Entry;
    if (before(parent, entry) <= 0) break;
    heap[at] = parent;
    at = up;
  }
  heap[at] = entry;
}

function removeFirst(heap: Entry[]): void {
  const entry = heap.pop();
  if (!entry || heap.length === 0) return;
  let at = 0;
  for (;;) {
    let down = 2 * at + 1;
    const left = heap[down];
    if (!left) break;
    const right = heap[down + 1];
    let child = left;
    if (right && before(right, left) < 0) {
      child = right;
      down += 1;
    }
    if (before(entry, child) <= 0) break;
    heap[at] = child;
    at = down;
  }
  heap[at] = entry;
}
