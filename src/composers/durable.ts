import type { BusEvent } from "../bus/event.ts";
import type { SteadyTime } from "../clock/steady.ts";
import type { Composer, PendingStore, StoredChange, StoredRecord } from "./composer.ts";
import type { Pending } from "./ops/op.ts";
import { firedId, pendingId, storedEvent, storedPending } from "./stored.ts";

/** What of an engine outlives the process: gathers what changed, and gives it to the store together. */
export interface Durable {
  /** What is pending for the key; null: nothing any more. */
  changed(composer: Composer, key: string, pending: Pending | null): void;
  /** A derived event that has been published, and is to be again after a crash until it has settled. */
  fired(composer: Composer, key: string, event: BusEvent): void;
  /** As `fired`, for one found in the store. */
  refired(event: BusEvent): void;
  settle(eventId: string): void;
  /** Forgets a record that was found in the store. */
  forget(id: string): void;
  /** Null: all is saved. Else resolves when what has changed so far is; rejects when it could not be. */
  saved(): Promise<void> | null;
}

/** @param store null: nothing is durable */
export function createDurable(store: PendingStore | null, time: SteadyTime): Durable {
  // What is pending is turned into a record when it is saved: only its last state counts.
  const changes = new Map<string, () => StoredRecord | null>();
  const unsettled = new Set<string>();
  let saving: Promise<void> | null = null;
  let planned = false;

  const flush = (): void => {
    planned = false;
    if (store === null || changes.size === 0) return;
    const batch: StoredChange[] = [];
    for (const [id, record] of changes) batch.push({ id, record: record() });
    changes.clear();
    const before = saving;
    const mine = store.save(batch);
    const all = before === null ? mine : Promise.all([before, mine]).then(() => {});
    saving = all;
    const done = () => {
      if (saving === all) saving = null;
    };
    // Whoever waits for `saved` is told; the store has recorded it.
    all.then(done, done);
  };

  const change = (id: string, record: () => StoredRecord | null): void => {
    if (store === null) return;
    changes.set(id, record);
    if (planned) return;
    planned = true;
    queueMicrotask(flush);
  };

  const nothing = () => null;

  return {
    changed(composer, key, pending) {
      change(pendingId(composer.name, key), pending ? () => storedPending(composer, pending, time) : nothing);
    },
    fired(composer, key, event) {
      unsettled.add(event.id);
      change(firedId(event.id), () => ({
        t: "fired",
        composer: composer.name,
        op: composer.op,
        key,
        event: storedEvent(event, time),
      }));
    },
    refired(event) {
      unsettled.add(event.id);
    },
    settle(eventId) {
      if (unsettled.delete(eventId)) change(firedId(eventId), nothing);
    },
    forget: (id) => change(id, nothing),
    saved() {
      flush();
      return saving;
    },
  };
}
