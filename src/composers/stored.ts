import { type BusEvent, busEvent } from "../bus/event.ts";
import type { SteadyTime } from "../clock/steady.ts";
import type { Composer, StoredEvent, StoredRecord } from "./composer.ts";
import type { Pending } from "./ops/op.ts";

export function pendingId(composer: string, key: string): string {
  return JSON.stringify(["pending", composer, key]);
}

export function firedId(eventId: string): string {
  return JSON.stringify(["fired", eventId]);
}

/**
 * A wall-clock instant in hundredths of a millisecond: seconds and the steady clock turn finer ones into their neighbours,
 * and what is told of an instant has to be the same after a restart.
 */
export function exactInstant(wall: number): number {
  return Math.round(wall * 100) / 100;
}

export function storedPending({ name, op }: Composer, pending: Pending, time: SteadyTime): StoredRecord {
  return {
    t: "pending",
    composer: name,
    op,
    key: pending.key,
    created_at: exactInstant(time.toWall(pending.createdAt)),
    last_at: exactInstant(time.toWall(pending.lastAt)),
    events: pending.events.map((event) => storedEvent(event, time)),
  };
}

export function storedEvent({ id, kind, payload, chainId, at }: BusEvent, time: SteadyTime): StoredEvent {
  return { id, kind, payload, chain_id: chainId, at: exactInstant(time.toWall(at)) };
}

/** @param at when it counts as emitted, on the steady clock */
export function restoredEvent(stored: StoredEvent, at: number): BusEvent {
  return busEvent({
    id: stored.id,
    kind: stored.kind,
    payload: stored.payload,
    chainId: stored.chain_id,
    at,
  });
}

/** An instant that was kept, on the steady clock: never in the future, whatever the wall clock was set to meanwhile. */
export function restoredInstant(wall: number, time: SteadyTime): number {
  return Math.min(time.fromWall(wall), time.now());
}
