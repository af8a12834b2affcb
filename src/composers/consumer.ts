import type { Bus } from "../bus/bus.ts";
import type { Dispatcher } from "../hooks/dispatcher.ts";

export interface ConsumerOptions {
  bus: Bus;
  hooks: Dispatcher;
  /** Told when all hooks on a composed event have settled, and what they pushed is in an inbox. */
  settle(eventId: string): void;
  /** Marks the labelled points at which a crash is tried out. */
  fault(label: string): void;
}

/** Runs the hooks on composed events in the session's background lane. It publishes nothing, and nothing of it is dropped. */
export interface ComposedConsumer {
  /** Whether events wait for it. */
  readonly busy: boolean;
  readonly queued: number;
  close(): void;
}

export function attachConsumer({ bus, hooks, settle, fault }: ConsumerOptions): ComposedConsumer {
  let waiting = 0;
  const subscription = bus.subscribe({
    name: "hooks",
    kinds: ["composed:*"],
    limit: Infinity,
    handle({ id, kind, payload, chainId }) {
      if (!hooks.has(kind)) return settle(id);
      const run = (): void => {
        fault("composed:before_hooks");
        void hooks.dispatchBehind({ key: kind, id, payload, chainId }).then((sound) => {
          fault("composed:after_hooks");
          // What could not be delivered is published again by the next start.
          if (sound) settle(id);
        });
      };
      const room = hooks.room();
      if (room === undefined) return run();
      waiting += 1;
      return room.then(() => {
        waiting -= 1;
        run();
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
    close: () => subscription.close(),
  };
}
