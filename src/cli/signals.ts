import process from "node:process";
import { ignoredSignals } from "../adapter/ignored_signals.ts";
import type { Clock } from "../clock/clock.ts";

const NUMBERS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;
type Signal = keyof typeof NUMBERS;

/** A wrapper that forwards Ctrl-C to a process that the terminal has signalled too makes one wish arrive twice. */
const SAME_SIGNAL_MS = 100;

export interface SignalOptions {
  clock: Clock;
  /** Tells how far apart two signals came. */
  ioClock: Clock;
  /** How long an orderly stop may take. */
  graceMs: number;
  /** Begins an orderly stop. */
  stop(): void;
  /** What SIGHUP does instead of stopping. */
  hangUp?: () => void;
  /** Called just before the process goes, once; one more signal does not wait for it. */
  giveUp(why: "shutdown_grace" | "another signal"): Promise<void>;
}

export interface Signals {
  readonly received: { name: Signal; number: number } | undefined;
  dispose(): void;
}

/** The first signal stops in order, the second, or the end of the grace, at once. The process ends with 128+n. */
export function onSignals({ clock, ioClock, graceMs, stop, hangUp, giveUp }: SignalOptions): Signals {
  let received: { name: Signal; number: number } | undefined;
  let cancelGrace: (() => void) | undefined;

  let firstAt = 0;
  let leaving = false;
  const leave = (number: number, why: "shutdown_grace" | "another signal") => {
    if (leaving) process.exit(128 + number);
    leaving = true;
    void giveUp(why).finally(() => process.exit(128 + number));
  };
  const ignored = ignoredSignals();
  const wanted = (Object.keys(NUMBERS) as Signal[]).filter((name) => !ignored.has(NUMBERS[name]));
  const handlers = wanted.map((name) => {
    const handler = () => {
      if (name === "SIGHUP" && hangUp) return hangUp();
      const number = NUMBERS[name];
      const first = received === undefined;
      if (!first && ioClock.monotonic() - firstAt < SAME_SIGNAL_MS) return;
      received = { name, number };
      if (!first) return leave(number, "another signal");
      firstAt = ioClock.monotonic();
      cancelGrace = clock.after(graceMs, () => leave(number, "shutdown_grace"));
      stop();
    };
    process.on(name, handler);
    return { name, handler };
  });

  return {
    get received() {
      return received;
    },
    dispose() {
      cancelGrace?.();
      for (const { name, handler } of handlers) process.off(name, handler);
    },
  };
}
