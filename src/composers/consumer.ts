import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock/clock.ts";
import type { Dispatcher } from "../hooks/dispatcher.ts";

export interface ConsumerOptions {
  bus: Bus;
  hooks: Dispatcher;
  /** Told when all hooks on a composed event have settled, and what they pushed is in an inbox. */
  settle(eventId: string): void;
  /** Paces new attempts to deliver. */
  clock: Clock;
  /** Marks the labelled points at which a crash is tried out. */
  fault(label: string): void;
}

/** Runs the hooks on composed events in the session's background lane. It publishes nothing, and nothing of it is dropped. */
export interface ComposedConsumer {
  /** Whether events wait for it. */
  readonly busy: boolean;
  readonly queued: number;
  /** Whether something could not be delivered and is tried again in a while. */
  readonly owing: boolean;
  close(): void;
}

const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;
const MOST_DOUBLINGS = 10;

export function attachConsumer({ bus, hooks, settle, clock, fault }: ConsumerOptions): ComposedConsumer {
  let waiting = 0;
  let closed = false;
  const retries = new Set<() => void>();
  const subscription = bus.subscribe({
    name: "hooks",
    kinds: ["composed:*"],
    limit: Infinity,
    handle({ id, kind, payload, chainId }) {
      if (!hooks.has(kind)) return settle(id);
      const run = (tries: number): void => {
        fault("composed:before_hooks");
        void hooks.dispatchBehind({ key: kind, id, payload, chainId }).then((sound) => {
          fault("composed:after_hooks");
          if (sound) settle(id);
          else if (!closed) later(tries);
        });
      };
      // What could not be delivered until the end is published again by the next start.
      const later = (tries: number): void => {
        const cancel = clock.after(Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** tries), () => {
          retries.delete(cancel);
          run(Math.min(tries + 1, MOST_DOUBLINGS));
        });
        retries.add(cancel);
      };
      const room = hooks.room();
      if (room === undefined) return run(0);
      waiting += 1;
      return room.then(() => {
        waiting -= 1;
        run(0);
      });
    },
  });
  return {
    get busy() {
      return waiting > 0 || subscription.queued > 0;
    },
    get queued() {
      return waiting + subscription.queued;
    },
    get owing() {
      return retries.size > 0;
    },
    close() {
      closed = true;
      for (const cancel of retries) cancel();
      retries.clear();
      subscription.close();
    },
  };
}
