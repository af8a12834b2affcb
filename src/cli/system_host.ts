import { systemClock } from "../clock/clock.ts";
import { randomIds } from "../clock/ids.ts";
import type { Host } from "./host.ts";

export function systemHost(): Host {
  return { clock: systemClock, ioClock: systemClock, ids: randomIds(), fault: () => {} };
}
