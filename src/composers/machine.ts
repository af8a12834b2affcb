import type { BusEvent } from "../bus/event.ts";
import { createChain, type Link, newLink } from "./chain.ts";
import type { Composer, DropReason } from "./composer.ts";
import { correlationKey } from "./correlation_key.ts";
import type { Op, Pending } from "./ops/op.ts";
import { opOf } from "./ops/op_of.ts";

/** The condition of a composer has been met. */
export interface Fire {
  key: string;
  /** In the order in which they came; at least one. */
  events: readonly BusEvent[];
  /** For each event, the inputs that it matched. */
  matched: readonly (readonly number[])[];
  /** The event that its id comes from: no two fires of a composer have the same. */
  cause: BusEvent;
  /** When the first event came. */
  createdAt: number;
}

/** What a step leads to, told as it happens. */
export interface Effects {
  fire(fire: Fire): void;
  /** `lost`: a deadline that was armed, and when. */
  drop(key: string, reason: DropReason, lost: number | null): void;
  /** What is pending for the key is another now; null: nothing. */
  changed(key: string, pending: Pending | null): void;
  /** Events keep coming and nothing bounds the wait. */
  heldBack(key: string, waitedMs: number): void;
}

/** One composer with what it waits with. Given the same steps it has the same effects: it looks at no clock. */
export interface Machine {
  readonly composer: Composer;
  readonly size: number;
  /** Whether something is pending for the key. */
  holds(key: string): boolean;
  /** When `expire` has something to do; Infinity: never. */
  nextDue(): number;
  /** Takes an event that matched `inputs` (not empty, unless it `cancels`). All that was due before it must be done. */
  step(event: BusEvent, inputs: readonly number[], cancels: boolean): void;
  /** Does what is due first, if it is due at `now`. */
  expire(now: number): void;
  /** What is pending, oldest first. */
  pending(): Iterable<Pending>;
  /** Sets when the first and the latest event of a key came. */
  redate(key: string, createdAt: number, lastAt: number): void;
  /** Forgets everything, key by key. */
  clear(reason: DropReason): void;
}

/** What is pending for a key, with its places in the order by first and by latest event. */
interface Slot {
  pending: Pending;
  byAge: Link<Pending>;
  byActivity: Link<Pending>;
}

/** A debounce that has waited this many times its ttl is reported. */
const HELD_BACK = 10;

export function createMachine(composer: Composer, effects: Effects): Machine {
  const { ttlMs, capacity, overflow, correlateBy, maxEventsPerKey, maxBytes, maxWaitMs } = composer;
  const op: Op = opOf(composer);
  const fromLatest = op.waitsFrom === "latest";
  const all = new Map<string, Slot>();
  const byAge = createChain<Pending>(({ createdAt }) => createdAt);
  const byActivity = createChain<Pending>(({ lastAt }) => lastAt);
  const longest = fromLatest ? maxWaitMs ?? Infinity : ttlMs;
  /** What the payloads of all keys take together. */
  let held = 0;

  const dueOf = (pending: Pending): number => {
    const due = pending.createdAt + longest;
    return fromLatest ? Math.min(due, pending.lastAt + ttlMs) : due;
  };

  const firstDue = (): Pending | undefined => {
    const oldest = byAge.first();
    if (!fromLatest || oldest === undefined) return oldest;
    const quietest = byActivity.first() ?? oldest;
    return dueOf(oldest) < dueOf(quietest) ? oldest : quietest;
  };

  const remove = (slot: Slot): void => {
    all.delete(slot.pending.key);
    held -= slot.pending.bytes;
    byAge.remove(slot.byAge);
    byActivity.remove(slot.byActivity);
  };

  const drop = (slot: Slot, reason: DropReason): void => {
    const { key, createdAt } = slot.pending;
    remove(slot);
    effects.drop(key, reason, composer.op === "deadline" ? createdAt : null);
    effects.changed(key, null);
  };

  /** Makes room for one more key; false: there is none. */
  const admit = (key: string): boolean => {
    if (all.size < capacity) return true;
    if (overflow === "drop_oldest") {
      const oldest = all.get(byAge.first()?.key ?? key);
      if (oldest) drop(oldest, "capacity_drop_oldest");
      return true;
    }
    effects.drop(key, overflow === "reject" ? "capacity_reject" : "capacity_drop_newest", null);
    return false;
  };

  const begin = (key: string, at: number): Slot => {
    const slot = newSlot(key, at);
    all.set(key, slot);
    byAge.place(slot.byAge);
    if (fromLatest) byActivity.place(slot.byActivity);
    return slot;
  };

  const restart = (slot: Slot, at: number): void => {
    slot.pending.events.length = 0;
    slot.pending.matched.length = 0;
    held -= slot.pending.bytes;
    slot.pending.bytes = 0;
    slot.pending.createdAt = at;
    byAge.remove(slot.byAge);
    byAge.place(slot.byAge);
  };

  const fire = (slot: Slot, cause: BusEvent): void => {
    const { key, events, matched, createdAt } = slot.pending;
    remove(slot);
    effects.changed(key, null);
    effects.fire({ key, events, matched, cause, createdAt });
  };

  const kept = (slot: Slot, event: BusEvent): void => {
    const { pending } = slot;
    if (pending.events.length > maxEventsPerKey) trim(pending, "per_key_event_cap");
    if (held > maxBytes && !makeRoom(slot)) return;
    pending.lastAt = event.at;
    if (fromLatest) {
      byActivity.remove(slot.byActivity);
      byActivity.place(slot.byActivity);
      const waited = event.at - pending.createdAt;
      if (maxWaitMs === null && !pending.toldHeldBack && waited >= HELD_BACK * ttlMs) {
        pending.toldHeldBack = true;
        effects.heldBack(pending.key, waited);
      }
    }
    effects.changed(pending.key, pending);
  };

  const trim = (pending: Pending, reason: DropReason): boolean => {
    const before = pending.bytes;
    if (!op.trim(pending)) return false;
    held += pending.bytes - before;
    effects.drop(pending.key, reason, null);
    return true;
  };

  /** Keeps to the bytes: other keys go first, the oldest of them; then events of this one; then all of it: false. */
  const makeRoom = (slot: Slot): boolean => {
    while (held > maxBytes) {
      const first = byAge.first();
      const oldest = first === slot.pending ? slot.byAge.after?.item : first;
      const other = oldest && all.get(oldest.key);
      if (other) drop(other, "byte_cap");
      else if (!trim(slot.pending, "byte_cap")) {
        drop(slot, "byte_cap");
        return false;
      }
    }
    return true;
  };

  /** Whether the event goes beyond what may be kept: by itself, or with what is kept where nothing goes for new ones. */
  const isTooMuch = ({ size }: BusEvent, inputs: readonly number[]): boolean =>
    size + (overflow === "drop_oldest" ? 0 : held) > maxBytes && op.keeps(inputs);

  const take = (key: string, event: BusEvent, inputs: readonly number[]): void => {
    let slot = all.get(key);
    if (slot === undefined && !op.begins(inputs)) return;
    if (isTooMuch(event, inputs)) return effects.drop(key, "byte_cap", null);
    if (slot === undefined) {
      if (!admit(key)) return;
      slot = begin(key, event.at);
    }
    const { pending } = slot;
    const before = pending.bytes;
    const taken = op.take(pending, event, inputs);
    held += pending.bytes - before;
    switch (taken) {
      case "kept":
        return kept(slot, event);
      case "fire":
        if (pending.events.length > maxEventsPerKey) trim(pending, "per_key_event_cap");
        return fire(slot, event);
      case "ignored":
        return;
      case "disarmed":
        remove(slot);
        return effects.changed(key, null);
      case "lost": {
        const again = op.begins(inputs);
        // One event that takes the place of another of its kind loses nothing.
        if (!again || pending.events.length > 1) effects.drop(key, "out_of_order", null);
        if (again) {
          restart(slot, event.at);
          return take(key, event, inputs);
        }
        remove(slot);
        return effects.changed(key, null);
      }
    }
  };

  return {
    composer,
    get size() {
      return all.size;
    },
    holds: (key) => all.has(key),
    nextDue() {
      const first = firstDue();
      return first ? dueOf(first) : Infinity;
    },
    step(event, inputs, cancels) {
      if (op.stateless) {
        if (cancels) return;
        const key = correlationKey(correlateBy, event.payload);
        if (isTooMuch(event, inputs)) return effects.drop(key, "byte_cap", null);
        return effects.fire({ key, events: [event], matched: [inputs], cause: event, createdAt: event.at });
      }
      const key = correlationKey(correlateBy, event.payload);
      if (!cancels) return take(key, event, inputs);
      const slot = all.get(key);
      if (slot) {
        remove(slot);
        effects.drop(key, "cancelled", null);
        effects.changed(key, null);
      }
    },
    expire(now) {
      const first = firstDue();
      if (first === undefined || dueOf(first) > now) return;
      const slot = all.get(first.key);
      if (slot === undefined) return;
      const { events } = first;
      const cause = fromLatest ? events.at(-1) : events[0];
      if (op.atTtl === "fire" && cause) fire(slot, cause);
      else drop(slot, "ttl_evict");
    },
    *pending() {
      for (const { pending } of all.values()) yield pending;
    },
    redate(key, createdAt, lastAt) {
      const slot = all.get(key);
      if (!slot) return;
      slot.pending.createdAt = createdAt;
      slot.pending.lastAt = lastAt;
      byAge.remove(slot.byAge);
      byAge.place(slot.byAge);
      if (!fromLatest) return;
      byActivity.remove(slot.byActivity);
      byActivity.place(slot.byActivity);
    },
    clear(reason) {
      for (const slot of [...all.values()]) drop(slot, reason);
    },
  };
}

function newSlot(key: string, at: number): Slot {
  const pending: Pending = {
    key,
    createdAt: at,
    lastAt: at,
    events: [],
    matched: [],
    bytes: 0,
    seen: [],
    missing: 0,
    toldHeldBack: false,
  };
  return { pending, byAge: newLink(pending), byActivity: newLink(pending) };
}
