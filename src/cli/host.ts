import type { Clock } from "../clock/clock.ts";
import type { Ids } from "../clock/ids.ts";

/** What a command gets from the world. The test binary hands in another clock, and faults. */
export interface Host {
  clock: Clock;
  /** Paces disk writes. Real even where the test binary's time stands still. */
  ioClock: Clock;
  ids: Ids;
  /** Called at each labelled point at which a crash may be tried out. */
  fault(label: string): void;
}

/** The options that every command takes. */
export interface GlobalOptions {
  /** `-C DIR`; the working directory otherwise. */
  dir: string;
  agent: string;
  session: string;
  json: boolean;
  hooks: boolean;
  quiet: boolean;
  /** `--config FILE`: declares decision hooks and delivery. */
  config?: string;
}
