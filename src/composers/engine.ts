import type { Audit } from "../audit/audit.ts";
import type { Bus } from "../bus/bus.ts";
import type { BusEvent } from "../bus/event.ts";
import type { Subscription } from "../bus/subscriber.ts";
import type { Timer, TimerQueue } from "../clock/timer_queue.ts";
import type { Composer, ComposerEngine, ComposerHolding, PendingStore } from "./composer.ts";
import { derivedEvent } from "./derived_event.ts";
import { createDurable } from "./durable.ts";
import type { Fire, Machine } from "./machine.ts";
import { restore } from "./restore.ts";
import { routesOf } from "./routes.ts";
import { type ComposerEvent, createRunner } from "./runner.ts";

export interface EnginePorts {
  /** `<agent>/<sid>`. */
  session: string;
  bus: Bus;
  /** Of the runtime: the clock that stamps the events on the bus. */
  timers: TimerQueue;
  audit: Audit;
  /** Null: nothing is durable. */
  store: PendingStore | null;
  /** Told of each fire and each drop, however many there are. */
  observe?: (event: ComposerEvent) => void;
}

/** Most events that wait for the composers of a session. */
const LONGEST_QUEUE = 16_384;
/** No further event is taken while so many composed ones wait for the hooks on them. */
const MOST_COMPOSED_WAITING = 4096;
/** How far, and how wide, one event is followed through composers of composed events. */
const DEEPEST_CHAIN = 32;
const WIDEST_CHAIN = 10_000;
/** Longest stretch of timers before everything else in the process gets a turn. */
const SLICE_MS = 2;
const TIMERS_A_LOOK = 16;
const NO_INPUTS: readonly number[] = [];

/** Runs the composers of one session on its bus. `composers` are in the order in which they take an event. */
export function createEngine(composers: readonly Composer[], ports: EnginePorts): ComposerEngine {
  const { bus, timers, audit, session, observe } = ports;
  const durable = createDurable(ports.store, timers);
  const isDurable = (composer: Composer) => composer.durable && ports.store !== null;
  const runners = composers.map((composer) =>
    createRunner(composer, {
      session,
      timers,
      audit,
      observe,
      durable: isDurable(composer) ? durable : null,
      publish,
    })
  );
  const routes = routesOf(runners.map(({ machine }) => machine));
  let subscription: Subscription | undefined;
  /** Pending while too many composed events wait. */
  let held: Promise<void> | null = null;
  let hasPublished = false;
  let timer: Timer | null = null;
  /** Not later than the first instant at which a machine has something to do. */
  let nextDue = Infinity;
  /** The instant that things happen at: of the event that is taken, or at which a timer was due. Never goes back. */
  let instant = 0;
  /** Composed events that composers take, and how far each is from an event that came from outside. */
  const chained: { event: BusEvent; depth: number }[] = [];
  let depth = 0;
  let stopped = false;

  function publish(composer: Composer, fire: Fire): void {
    const event = derivedEvent(composer, fire, instant, timers.toWall);
    if (isDurable(composer)) durable.fired(composer, fire.key, event);
    hasPublished = true;
    bus.publish(event, subscription);
    audit.emit("composer_fired", session, {
      composer: composer.name,
      correlation_key: fire.key,
      event_id: event.id,
    });
    observe?.({ type: "fired", composer: composer.name, key: fire.key, event });
    if (routes.has(event.kind)) chained.push({ event, depth: depth + 1 });
  }

  function tellLost(composer: string, key: string, armedAt: number, reason: string): void {
    audit.emit("composer_deadline_lost", session, {
      composer,
      correlation_key: key,
      armed_at: armedAt / 1000,
      reason,
    });
  }

  function feed(event: BusEvent): void {
    const there = routes.get(event.kind);
    if (there === undefined) return;
    for (let at = 0; at < there.length; at++) {
      const route = there[at];
      if (route === undefined) continue;
      const { machine, cancels } = route;
      if (cancels !== null && cancels(event)) {
        machine.step(event, NO_INPUTS, true);
      } else {
        const inputs = route.inputsOf(event);
        if (inputs === null) continue;
        machine.step(event, inputs, false);
      }
      const due = machine.nextDue();
      if (due < nextDue) schedule(due);
    }
  }

  /** Follows composed events through the composers that take them, first come first served. */
  function followChain(): void {
    for (let at = 0; at < chained.length; at++) {
      const next = chained[at];
      if (next === undefined) continue;
      if (next.depth > DEEPEST_CHAIN || at >= WIDEST_CHAIN) {
        for (const { machine } of routes.get(next.event.kind) ?? []) {
          runners.find((runner) => runner.machine === machine)?.drop(keyOf(next.event), "chain_limit");
        }
        continue;
      }
      depth = next.depth;
      feed(next.event);
    }
    chained.length = 0;
    depth = 0;
  }

  function take(event: BusEvent): void | Promise<void> {
    if (event.at >= nextDue) {
      expire(event.at, Infinity);
      schedule(firstDue());
    }
    if (event.at > instant) instant = event.at;
    feed(event);
    if (chained.length > 0) followChain();
    if (!hasPublished) return;
    hasPublished = false;
    const relief = bus.relief(MOST_COMPOSED_WAITING);
    if (relief === undefined) return;
    held = relief.then(() => {
      held = null;
      schedule(firstDue());
    });
    return held;
  }

  /** Does what is due up to `until`, in order of due time; gives up, with false, after `sliceMs`. */
  function expire(until: number, sliceMs: number): boolean {
    const started = timers.now();
    for (let done = 1;; done++) {
      const machine = firstMachine();
      const due = machine?.nextDue() ?? Infinity;
      if (machine === undefined || due > until) return true;
      if (due > instant) instant = due;
      machine.expire(due);
      if (chained.length > 0) followChain();
      if (done % TIMERS_A_LOOK === 0 && timers.now() - started >= sliceMs) return false;
    }
  }

  function firstMachine(): Machine | undefined {
    let first: Machine | undefined;
    let earliest = Infinity;
    for (const { machine } of runners) {
      const due = machine.nextDue();
      if (due < earliest) {
        earliest = due;
        first = machine;
      }
    }
    return first;
  }

  const firstDue = (): number => firstMachine()?.nextDue() ?? Infinity;

  function schedule(due: number): void {
    timer?.cancel();
    nextDue = due;
    timer = due === Infinity || held !== null || stopped ? null : timers.at(due, onTimer);
  }

  function onTimer(): void {
    timer = null;
    // What was emitted before the timer was due comes before it.
    subscription?.pump();
    if (held === null) expire(timers.now(), SLICE_MS);
    schedule(firstDue());
  }

  function settled(): Promise<void> | null {
    if (held === null) subscription?.pump();
    if (held !== null) return held.then(() => settled() ?? undefined);
    return durable.saved();
  }

  return {
    start(restored = []) {
      instant = timers.now();
      if (runners.length > 0) {
        subscription = bus.subscribe({
          name: "composers",
          kinds: [...routes.keys()],
          limit: LONGEST_QUEUE,
          handle: take,
        });
      }
      restore(restored, {
        machines: new Map(runners.map(({ machine }) => [machine.composer.name, machine])),
        routes,
        durable,
        time: timers,
        republish: (event) => bus.publish(event, subscription),
        drop(composer, key, reason, lost) {
          const runner = runners.find(({ machine }) => machine.composer.name === composer);
          if (runner) runner.drop(key, reason);
          else audit.emit("composer_dropped", session, { composer, correlation_key: key, reason });
          if (lost !== null) tellLost(composer, key, lost, reason);
        },
        lose: (composer, key, armedAt) => tellLost(composer, key, armedAt, "no_room"),
      });
      followChain();
      expire(instant, Infinity);
      schedule(firstDue());
    },
    settled,
    settle: (eventId) => durable.settle(eventId),
    status: () => runners.map((runner) => runner.status()),
    holdings: (most) => runners.map(({ machine }) => holdingOf(machine, most, timers)),
    get queued() {
      return subscription?.queued ?? 0;
    },
    get volatile() {
      return runners.reduce(
        (sum, { machine }) => isDurable(machine.composer) ? sum : sum + machine.size,
        0,
      );
    },
    async stop() {
      if (held === null) subscription?.pump();
      stopped = true;
      timer?.cancel();
      subscription?.close();
      for (const runner of runners) {
        if (!isDurable(runner.machine.composer)) runner.machine.clear("session_closed");
        runner.flush();
      }
      await durable.saved();
    },
  };
}

function holdingOf(machine: Machine, most: number, { toWall }: TimerQueue): ComposerHolding {
  const keys: ComposerHolding["keys"] = [];
  for (const { key, createdAt, lastAt, events } of machine.pending()) {
    if (keys.length >= most) break;
    keys.push({ key, createdAt: toWall(createdAt), lastAt: toWall(lastAt), events: events.length });
  }
  return { composer: machine.composer, pending: machine.size, keys };
}

function keyOf({ payload }: BusEvent): string {
  const key = payload["correlation_key"];
  return typeof key === "string" ? key : "";
}
