import type { Audit } from "../audit/audit.ts";
import { createBus } from "../bus/bus.ts";
import { busEvent } from "../bus/event.ts";
import { steppedClock } from "../clock/stepped_clock.ts";
import { createTimerQueue } from "../clock/timer_queue.ts";
import type { Composer, ComposerStatus } from "./composer.ts";
import { createEngine } from "./engine.ts";
import type { ComposerEvent } from "./runner.ts";

/** An event of a timeline: `at` in milliseconds from its beginning, `kind` as it stands on the bus. */
export interface SimulatedEvent {
  at: number;
  kind: string;
  payload: Readonly<Record<string, unknown>>;
}

/** The composers of a session on a clock of their own: nothing is waited for, and nothing is kept. */
export interface Simulation {
  /** Moves on to the event's time, doing all that is due until then, and publishes it. `at` never goes back. */
  publish(event: SimulatedEvent): void;
  /** Goes on until nothing is due any more or, where it is given, until this instant. */
  finish(until?: number): void;
  /** Milliseconds from the beginning. */
  readonly now: number;
  status(): ComposerStatus[];
}

/** Faults of the engine itself: they end a simulation. */
const fail = (error: unknown): never => {
  throw error instanceof Error ? error : new Error(String(error));
};

const SILENT: Audit = {
  emit: () => {},
  flush: () => Promise.resolve(),
  close: () => Promise.resolve(),
};

/** @param observe told of each fire and each drop, at its time */
export function simulate(
  composers: readonly Composer[],
  observe: (what: ComposerEvent, at: number) => void,
): Simulation {
  const clock = steppedClock();
  const timers = createTimerQueue(clock, fail);
  const bus = createBus({ clock, onDropped: () => {}, onError: (_subscriber, error) => fail(error) });
  const engine = createEngine(composers, {
    session: "simulated",
    bus,
    timers,
    audit: SILENT,
    store: null,
    observe: (what) => observe(what, timers.now()),
  });
  engine.start();
  let count = 0;

  return {
    publish({ at, kind, payload }) {
      clock.moveTo(at);
      count += 1;
      bus.publish(
        busEvent({ id: `event-${count}`, kind, payload: { ...payload }, chainId: null, at: timers.now() }),
      );
      // Takes it at once instead of when the loop comes to it.
      void engine.settled();
    },
    finish(until) {
      if (until !== undefined) return clock.moveTo(until);
      for (let due = clock.nextDue(); due !== undefined; due = clock.nextDue()) clock.moveTo(due);
    },
    get now() {
      return timers.now();
    },
    status: () => engine.status(),
  };
}
