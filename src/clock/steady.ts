import type { Clock } from "./clock.ts";

/**
 * Epoch milliseconds that only go forward, as fast as time does: wall-clock time as it was at the start, moved on by
 * the monotonic clock. Waits are measured on it, so that setting the wall clock neither shortens nor lengthens one.
 */
export interface SteadyTime {
  now(): number;
  /** The wall-clock instant, as the wall clock is set now, of an instant of this clock. */
  toWall(at: number): number;
  fromWall(wall: number): number;
}

/** A difference below this is how finely the two clocks are read, not a clock that was set. */
const JUMP_MS = 500;

export function steadyTime(clock: Clock): SteadyTime {
  const base = clock.now() - clock.monotonic();
  let offset = 0;
  const now = () => base + clock.monotonic();
  // The offset is kept until it is clearly another one, so that one instant is always shown as one number.
  const currentOffset = (): number => {
    const measured = clock.now() - now();
    if (Math.abs(measured - offset) >= JUMP_MS) offset = measured;
    return offset;
  };
  return {
    now,
    toWall: (at) => at + currentOffset(),
    fromWall: (wall) => wall - currentOffset(),
  };
}
