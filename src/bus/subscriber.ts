import type { BusEvent } from "./event.ts";
import type { Clock } from "../clock/clock.ts";
import { createRing, type Ring } from "./ring.ts";

export interface SubscriberOptions {
  /** Names it in records. */
  name: string;
  /** Kinds it sees; one that ends in `*` is a prefix. */
  kinds: readonly string[];
  /** Most events that wait for it; above it the oldest is dropped. Infinity: none is ever dropped. */
  limit: number;
  /** Takes one event. While what it returns is pending, nothing else is handed to it. */
  handle(event: BusEvent): void | Promise<void>;
}

export interface Subscription {
  readonly queued: number;
  /** Hands out what is queued for this subscriber, now, unless its handler is at work. */
  pump(): void;
  /** It receives nothing more: what is queued is dropped, with a record. */
  close(): void;
}

export interface BusPorts {
  clock: Clock;
  /** Told once for an episode of drops, when it ends or has lasted a second. */
  onDropped(subscriber: string, count: number): void;
  /** Told of what a handler throws. */
  onError(subscriber: string, error: unknown): void;
}

/** What the bus knows of one subscriber. */
export interface Subscriber {
  readonly name: string;
  readonly subscription: Subscription;
  /** Whether its queue has no limit. */
  readonly keepsAll: boolean;
  readonly queue: Ring<BusEvent>;
  readonly handle: SubscriberOptions["handle"];
  /** Whether it stands in the list of those to be served. */
  ready: boolean;
  /** Whether its handler is at work. */
  busy: boolean;
  /** Drops not yet reported. */
  dropped: number;
  add(event: BusEvent): void;
  report(): void;
}

/** An episode of drops that lasts longer is reported in parts. */
const LONGEST_EPISODE_MS = 1000;

export function createSubscriber(
  options: SubscriberOptions,
  subscription: Subscription,
  ports: BusPorts,
): Subscriber {
  const { limit } = options;
  const queue = createRing<BusEvent>();
  let since = 0;
  const subscriber: Subscriber = {
    name: options.name,
    subscription,
    keepsAll: limit === Infinity,
    queue,
    handle: options.handle,
    ready: false,
    busy: false,
    dropped: 0,
    add(event) {
      if (queue.length >= limit) {
        queue.shift();
        const now = ports.clock.monotonic();
        if (subscriber.dropped === 0) since = now;
        else if (now - since >= LONGEST_EPISODE_MS) {
          subscriber.report();
          since = now;
        }
        subscriber.dropped += 1;
      }
      queue.push(event);
    },
    report() {
      const count = subscriber.dropped;
      subscriber.dropped = 0;
      ports.onDropped(options.name, count);
    },
  };
  return subscriber;
}
