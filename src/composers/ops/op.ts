import type { BusEvent } from "../../bus/event.ts";

/**
 * What one key of a composer waits with: the whole state of an op. What is not kept over a restart is found again by
 * taking its events once more.
 */
export interface Pending {
  readonly key: string;
  /** When its first event came; for a deadline, when it was armed. */
  createdAt: number;
  /** When its latest event came. */
  lastAt: number;
  /** In the order in which they came. */
  events: BusEvent[];
  /** For each event, the inputs that it matched. */
  matched: (readonly number[])[];
  /** What the payloads of its events take, in bytes. */
  bytes: number;
  /** How many events matched each input, where the op asks for it; else empty. */
  seen: number[];
  /** How many inputs no event has matched. */
  missing: number;
  /** Whether it has been told that it is held back. */
  toldHeldBack: boolean;
}

/**
 * What an event did to the pending events of its key. `kept`: it is one of them now. `fire`: it completes them.
 * `ignored`: nothing changed. `disarmed`: they are done with, in the ordinary way. `lost`: they cannot complete any
 * more, and the event has not been taken: it may begin anew.
 */
export type Taken = "kept" | "fire" | "ignored" | "disarmed" | "lost";

/**
 * One of the eight ways in which events become one: a pure state machine. All that happens depends on the arguments
 * alone; nothing here looks at a clock.
 */
export interface Op {
  /** True: every matching event fires by itself, and nothing is ever pending. */
  readonly stateless: boolean;
  /** Which instant of what is pending the ttl counts from. */
  readonly waitsFrom: "first" | "latest";
  /** What the end of the ttl means. */
  readonly atTtl: "fire" | "evict";
  /** Whether an event that matched these inputs may begin a round. */
  begins(inputs: readonly number[]): boolean;
  /** Whether an event that matched these inputs is ever buffered, or passed on in a fire. */
  keeps(inputs: readonly number[]): boolean;
  /** Takes an event of the key. A new round is given with no events in it. */
  take(pending: Pending, event: BusEvent, inputs: readonly number[]): Taken;
  /** Takes the oldest event that can be missed out of those buffered; false: there is none. */
  trim(pending: Pending): boolean;
}

/** Adds the event to the buffered ones. */
export function buffer(pending: Pending, event: BusEvent, inputs: readonly number[]): void {
  pending.events.push(event);
  pending.matched.push(inputs);
  pending.bytes += event.size;
}

/** The oldest event, where all count the same; the latest stays. */
export function dropFirst(pending: Pending): boolean {
  if (pending.events.length < 2) return false;
  pending.bytes -= pending.events.shift()?.size ?? 0;
  pending.matched.shift();
  return true;
}

/** Where each event is needed. */
export const dropNone = (): boolean => false;

/** Any event may begin a round. */
export const always = (): boolean => true;
