import type { Audit } from "../audit/audit.ts";
import { createBus } from "../bus/bus.ts";
import { busEvent } from "../bus/event.ts";
import type { Clock } from "../clock/clock.ts";
import { createTimerQueue, type TimerQueue } from "../clock/timer_queue.ts";
import type { Composer } from "../composers/composer.ts";
import { attachConsumer } from "../composers/consumer.ts";
import { createEngine } from "../composers/engine.ts";
import { type LoadedPending, loadPending } from "../composers/pending_load.ts";
import { openPendingFile } from "../composers/pending_store.ts";
import type { Dispatcher } from "../hooks/dispatcher.ts";
import type { SessionRef } from "../hooks/session_ref.ts";
import type { SessionBus } from "../session/session_bus.ts";
import { checkPendingPlaces } from "./check_places.ts";
import { pendingPath } from "./places.ts";
import type { ComposedEvent } from "./run_event.ts";

export interface SessionComposersOptions {
  controlDir: string;
  own: SessionRef;
  composers: readonly Composer[];
  /** Of the runtime. */
  timers: TimerQueue;
  /** Paces new attempts to write. */
  ioClock: Clock;
  audit: Audit;
  hooks: Dispatcher;
  observe(event: ComposedEvent): void;
  /** Lines for the operator. */
  talk(line: string): void;
  fault(label: string): void;
}

/**
 * Opens the bus of a session with its composers on it and the hooks on what they emit. Null where no composer is
 * declared: then nothing is published at all.
 */
export function openSessionComposers(options: SessionComposersOptions): SessionBus | null {
  const { controlDir, own, composers, timers, audit, talk } = options;
  const session = `${own.agent}/${own.sid}`;
  const path = pendingPath(controlDir, own);
  checkPendingPlaces(controlDir, own);
  const found = readPending(path, options, session);
  const anyDurable = composers.some(({ durable }) => durable);
  const stale = found.damaged.length > 0;
  if (composers.length === 0 && found.records.length === 0 && !stale) return null;

  const bus = createBus({
    clock: options.ioClock,
    onDropped: (subscriber, count) =>
      audit.emit("bus_subscriber_dropped", session, { subscriber_id: subscriber, drop_count: count }),
    onError: (subscriber, error) => talk(`E_INTERNAL ${subscriber}: ${textOf(error)}\n`),
  });
  const store = openPendingFile({
    path,
    found: found.records,
    stale,
    ioClock: options.ioClock,
    fault: options.fault,
    onFailure(reason) {
      audit.emit("composer_pending_failed", session, { path, reason });
      talk(`${path} cannot be written: ${reason}; what is armed now may not survive a crash\n`);
    },
  });
  const engine = createEngine(composers, {
    session,
    bus,
    timers,
    audit,
    store,
    observe: (what) => options.observe({ type: "composer", what }),
  });
  const consumer = attachConsumer({
    bus,
    hooks: options.hooks,
    settle: (id) => engine.settle(id),
    clock: options.ioClock,
    fault: options.fault,
  });

  const handedOn = async (): Promise<void> => {
    for (;;) {
      await engine.settled()?.catch(() => {});
      if (!consumer.busy) return;
      await bus.drained();
    }
  };

  return {
    wants: (kind) => bus.wants(kind),
    publish({ id, kind, payload, chainId }) {
      bus.publish(busEvent({ id, kind, payload: { ...payload }, chainId, at: timers.now() }));
      return anyDurable ? engine.settled() ?? undefined : undefined;
    },
    get holding() {
      return consumer.owing || engine.status().some(({ pending }) => pending > 0);
    },
    get waiting() {
      return engine.queued + consumer.queued;
    },
    holdings: (most) => engine.holdings(most),
    start: () => engine.start(found.records.map(({ record }) => record)),
    quiet: () => engine.settled() === null && !consumer.busy ? undefined : handedOn(),
    async close() {
      await handedOn();
      await engine.stop();
      // What its last fires set off.
      await bus.drained();
      await options.hooks.drained();
      await engine.settled()?.catch(() => {});
      consumer.close();
      await bus.close();
      await store.close();
    },
    async abandon() {
      consumer.close();
      await engine.stop().catch(() => {});
      await bus.close({ graceMs: 0 });
      await store.close();
    },
  };
}

/** The timers of all composers of a runtime. */
export function runtimeTimers(clock: Clock, talk: (line: string) => void): TimerQueue {
  return createTimerQueue(clock, (error) => talk(`E_INTERNAL a timer: ${textOf(error)}\n`));
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function readPending(
  path: string,
  { composers, audit, ioClock, talk }: SessionComposersOptions,
  session: string,
): LoadedPending {
  const ops = new Map(composers.map(({ name, op }) => [name, op]));
  const found = loadPending(path, { now: ioClock.now(), opOf: (name) => ops.get(name) });
  if (found.setAside) {
    audit.emit("composer_pending_set_aside", session, found.setAside);
    talk(
      `${path} was damaged (${found.setAside.reason}): nothing of it is pending, and it was put aside as ${found.setAside.path}\n`,
    );
  }
  for (const { composer, key } of found.damaged) {
    audit.emit("composer_dropped", session, { composer, correlation_key: key, reason: "record_damaged" });
  }
  return found;
}
