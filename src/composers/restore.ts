import type { BusEvent } from "../bus/event.ts";
import type { SteadyTime } from "../clock/steady.ts";
import type { DropReason, StoredRecord } from "./composer.ts";
import type { Durable } from "./durable.ts";
import { correlationKey } from "./correlation_key.ts";
import type { Machine } from "./machine.ts";
import type { Route } from "./routes.ts";
import { firedId, pendingId, restoredEvent, restoredInstant } from "./stored.ts";

export interface RestoreInto {
  machines: ReadonlyMap<string, Machine>;
  routes: ReadonlyMap<string, readonly Route[]>;
  durable: Durable;
  time: SteadyTime;
  /** Publishes a derived event again, for those who act on it. */
  republish(event: BusEvent): void;
  /** `lost`: when a deadline that is given up was armed. */
  drop(composer: string, key: string, reason: DropReason, lost: number | null): void;
  /** A deadline that was armed then has been dropped, with a record, because there is no room for it. */
  lose(composer: string, key: string, armedAt: number): void;
}

/**
 * Takes up what was pending when the process ended. Events are taken once more by the composers as they are declared
 * now: what no input takes any more is dropped with a record, and what is complete without it fires.
 */
export function restore(records: readonly StoredRecord[], into: RestoreInto): void {
  const first = (record: StoredRecord) => record.t === "pending" ? record.created_at : record.event.at;
  for (const record of [...records].sort((a, b) => first(a) - first(b))) {
    const machine = into.machines.get(record.composer);
    const why = refusal(record, machine);
    if (why !== undefined || machine === undefined) {
      const lost = record.t === "pending" && record.op === "deadline" ? record.created_at : null;
      into.drop(record.composer, record.key, why ?? "composer_removed", lost);
      into.durable.forget(
        record.t === "pending" ? pendingId(record.composer, record.key) : firedId(record.event.id),
      );
    } else if (record.t === "fired") {
      const event = restoredEvent(record.event, into.time.now());
      into.durable.refired(event);
      into.republish(event);
    } else {
      takeUp(record, machine, into);
    }
  }
}

function refusal(record: StoredRecord, machine: Machine | undefined): DropReason | undefined {
  if (!machine?.composer.durable) return "composer_removed";
  return machine.composer.op === record.op ? undefined : "composer_changed";
}

function takeUp(
  record: Extract<StoredRecord, { t: "pending" }>,
  machine: Machine,
  { routes, durable, time, drop, lose }: RestoreInto,
): void {
  const createdAt = restoredInstant(record.created_at, time);
  const lastAt = restoredInstant(record.last_at, time);
  let key: string | undefined;
  for (const stored of record.events) {
    const event = restoredEvent(stored, Math.min(restoredInstant(stored.at, time), lastAt));
    const route = routes.get(event.kind)?.find((one) => one.machine === machine);
    const inputs = route?.inputsOf(event) ?? null;
    if (inputs === null) {
      const lost = record.op === "deadline" ? record.created_at : null;
      drop(record.composer, record.key, "composer_changed", lost);
      continue;
    }
    key = correlationKey(machine.composer.correlateBy, event.payload);
    machine.step(event, inputs, false);
  }
  // There may be less room now than there was.
  const isRefused = key !== undefined && !machine.holds(key);
  if (isRefused && record.op === "deadline") lose(record.composer, record.key, record.created_at);
  if (key !== record.key || isRefused) durable.forget(pendingId(record.composer, record.key));
  if (key !== undefined) machine.redate(key, createdAt, Math.max(lastAt, createdAt));
}
