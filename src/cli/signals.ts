import process from "node:process";
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
  /** Called just before the process goes, once; one more signal does not wait for it. */
  giveUp(): Promise<void>;
}

export interface Signals {
  readonly received: { name: Signal; number: number } | undefined;
  dispose(): void;
}

/** The first signal stops in order, the second, or the end of the grace, at once. The process ends with 128+n. */
export function onSignals({ clock, ioClock, graceMs, stop, giveUp }: SignalOptions): Signals {
  let received: { name: Signal; number: number } | undefined;
  let cancelGrace: (() => void) | undefined;

  let firstAt = 0;
  let leaving = false;
  const leave = (number: number) => {
    if (leaving) process.exit(128 + number);
    leaving = true;
    void giveUp().finally(() => process.exit(128 + number));
  };
  const handlers = (Object.keys(NUMBERS) as Signal[]).map((name) => {
    const handler = () => {
      const number = NUMBERS[name];
      const first = received === undefined;
      if (!first && ioClock.monotonic() - firstAt < SAME_SIGNAL_MS) return;
      received = { name, number };
      if (!first) return leave(number);
      firstAt = ioClock.monotonic();
      cancelGrace = clock.after(graceMs, () => leave(number));
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
