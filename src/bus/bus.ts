import { setImmediate } from "node:timers";
import type { BusEvent } from "./event.ts";
import { kindIndex } from "./kind_index.ts";
import {
  type BusPorts,
  createSubscriber,
  type Subscriber,
  type SubscriberOptions,
  type Subscription,
} from "./subscriber.ts";

/**
 * The events of one session, broadcast: every subscriber sees each event of its kinds, in the order published, and
 * none takes it from another. A subscriber that is slow or throws disturbs only itself.
 */
export interface Bus {
  /** Queues the event for those who want its kind, `except` one, and returns. After `close` it does nothing. */
  publish(event: BusEvent, except?: Subscription): void;
  /** False: `publish` of such an event would reach nobody. */
  wants(kind: string): boolean;
  subscribe(options: SubscriberOptions): Subscription;
  /** Awaited by a source that publishes in a loop, it lets everything else run every 2 ms; undefined: go on. */
  pace(): Promise<void> | undefined;
  /**
   * Undefined while fewer than `most` events wait for each subscriber that drops none; else resolves when that is so
   * again. A source of events for such subscribers waits for it, and so stays bounded.
   */
  relief(most: number): Promise<void> | undefined;
  /** Resolves when nothing is queued and no handler runs. */
  drained(): Promise<void>;
  /**
   * Takes no more events, hands out what is queued, and resolves, at the latest after `graceMs` (default 5 s): what
   * was left then is dropped with a record. Any call after the first waits for the same.
   */
  close(options?: { graceMs?: number }): Promise<void>;
}

/** Longest stretch of handing out before everything else in the process gets a turn. */
const SLICE_MS = 2;
/** How many events are handed out between two looks at the clock. */
const EVENTS_A_LOOK = 16;
const GRACE_MS = 5000;

export function createBus(ports: BusPorts): Bus {
  const { clock } = ports;
  const index = kindIndex<Subscriber>();
  const subscribers = new Set<Subscriber>();
  /** Those with something queued and no handler at work, each once. */
  let ready: Subscriber[] = [];
  let atWork = 0;
  let state: "idle" | "planned" | "draining" = "idle";
  let closing: Promise<void> | null = null;
  let wakers: (() => void)[] = [];
  let squeezed: { most: number; wake: () => void }[] = [];
  let handedOut = 0;
  let sliceStart = 0;
  let isOver = false;
  let pacedSince = -1;

  const plan = (): void => {
    if (state !== "idle") return;
    state = "planned";
    queueMicrotask(drain);
  };

  const makeReady = (subscriber: Subscriber): void => {
    if (subscriber.ready || subscriber.busy || subscriber.queue.length === 0) return;
    subscriber.ready = true;
    ready.push(subscriber);
    plan();
  };

  const sliceIsOver = (): boolean => {
    handedOut += 1;
    if (handedOut % EVENTS_A_LOOK === 0 && clock.monotonic() - sliceStart >= SLICE_MS) isOver = true;
    return isOver;
  };

  /** Hands out what is queued for one; `bounded`: until the slice is over. */
  const serve = (subscriber: Subscriber, bounded: boolean): void => {
    while (!subscriber.busy) {
      const event = subscriber.queue.shift();
      if (event === undefined) break;
      let result: void | Promise<void> = undefined;
      try {
        result = subscriber.handle(event);
      } catch (error) {
        ports.onError(subscriber.name, error);
      }
      if (result instanceof Promise) waitFor(subscriber, result);
      else if (bounded && sliceIsOver()) break;
    }
    if (subscriber.dropped > 0 && subscriber.queue.length === 0) subscriber.report();
    if (squeezed.length > 0) relieve();
  };

  const longestKept = (): number => {
    let longest = 0;
    for (const { keepsAll, queue } of subscribers) if (keepsAll) longest = Math.max(longest, queue.length);
    return longest;
  };

  const relieve = (): void => {
    const longest = longestKept();
    const free = squeezed.filter(({ most }) => longest < most);
    if (free.length === 0) return;
    squeezed = squeezed.filter(({ most }) => longest >= most);
    for (const { wake } of free) wake();
  };

  const waitFor = (subscriber: Subscriber, work: Promise<void>): void => {
    subscriber.busy = true;
    atWork += 1;
    const done = (): void => {
      subscriber.busy = false;
      atWork -= 1;
      makeReady(subscriber);
      tellIfIdle();
    };
    work.then(done, (error: unknown) => {
      ports.onError(subscriber.name, error);
      done();
    });
  };

  const drain = (): void => {
    state = "draining";
    sliceStart = clock.monotonic();
    isOver = false;
    while (ready.length > 0) {
      const turn = ready;
      ready = [];
      for (let at = 0; at < turn.length; at++) {
        const subscriber = turn[at] as Subscriber;
        subscriber.ready = false;
        serve(subscriber, true);
        makeReady(subscriber);
        if (!isOver) continue;
        // Whoever waits longest is first when it goes on.
        ready = [...turn.slice(at + 1), ...ready];
        state = ready.length > 0 ? "planned" : "draining";
        if (state === "planned") {
          setImmediate(drain);
          return;
        }
      }
    }
    state = "idle";
    tellIfIdle();
  };

  const isIdle = () => state === "idle" && ready.length === 0 && atWork === 0;

  const tellIfIdle = (): void => {
    if (wakers.length === 0 || !isIdle()) return;
    const waiting = wakers;
    wakers = [];
    for (const wake of waiting) wake();
  };

  const drained = (): Promise<void> =>
    isIdle() ? Promise.resolve() : new Promise((wake) => wakers.push(wake));

  const shutDown = async (graceMs: number): Promise<void> => {
    if (!isIdle()) {
      let cancel = () => {};
      const grace = new Promise<void>((resolve) => cancel = clock.after(graceMs, resolve));
      await Promise.race([drained(), grace]);
      cancel();
    }
    for (const subscriber of subscribers) discard(subscriber);
    subscribers.clear();
    index.clear();
    relieve();
  };

  return {
    publish(event, except) {
      if (closing) return;
      const wanting = index.of(event.kind);
      for (let at = 0; at < wanting.length; at++) {
        const subscriber = wanting[at] as Subscriber;
        if (subscriber.subscription === except) continue;
        subscriber.add(event);
        if (!subscriber.ready) makeReady(subscriber);
      }
    },
    wants: (kind) => closing === null && index.of(kind).length > 0,
    subscribe(options) {
      const subscription: Subscription = {
        get queued() {
          return subscriber.queue.length;
        },
        pump() {
          serve(subscriber, false);
        },
        close() {
          index.remove(subscriber);
          if (subscribers.delete(subscriber)) discard(subscriber);
          relieve();
        },
      };
      const subscriber = createSubscriber(options, subscription, ports);
      if (closing === null) {
        subscribers.add(subscriber);
        index.add(subscriber, options.kinds);
      }
      return subscription;
    },
    pace() {
      const now = clock.monotonic();
      if (pacedSince < 0) pacedSince = now;
      if (now - pacedSince < SLICE_MS) return undefined;
      return new Promise((resolve) =>
        setImmediate(() => {
          pacedSince = clock.monotonic();
          resolve();
        })
      );
    },
    relief(most) {
      return longestKept() < most ? undefined : new Promise((wake) => squeezed.push({ most, wake }));
    },
    drained,
    close: ({ graceMs = GRACE_MS } = {}) => closing ??= shutDown(graceMs),
  };
}

/** Drops what is queued, with a record. */
function discard(subscriber: Subscriber): void {
  subscriber.dropped += subscriber.queue.length;
  subscriber.queue.clear();
  if (subscriber.dropped > 0) subscriber.report();
}
