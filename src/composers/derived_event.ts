import { createHash } from "node:crypto";
import { type BusEvent, frozenEvent } from "../bus/event.ts";
import { freezeList } from "../bus/freeze.ts";
import type { Composer } from "./composer.ts";
import type { Fire } from "./machine.ts";
import { exactInstant } from "./stored.ts";

/** Longest id kept as it is. */
const LONGEST_ID = 300;
/** What a derived payload takes besides its events, about. */
const FRAME = 64;

/**
 * What a composer publishes: `{inputs, correlation_key}`, with names also `by_name` (for each, the last event that its
 * input matched), from a deadline also `armed_at` and `ttl` in seconds and `awaited`.
 *
 * @param wall the wall-clock instant of one of the steady clock
 */
export function derivedEvent(
  composer: Composer,
  fire: Fire,
  at: number,
  wall: (at: number) => number,
): BusEvent {
  const inputs = fire.events.map((event) => event.payload);
  freezeList(inputs);
  const payload: Record<string, unknown> = { inputs, correlation_key: fire.key };
  let size = FRAME + fire.key.length;
  for (const event of fire.events) size += event.size;
  if (composer.inputs.some(({ as }) => as !== null)) {
    const named = byName(composer, fire);
    payload["by_name"] = Object.freeze(
      Object.fromEntries([...named].map(([name, event]) => [name, event.payload])),
    );
    for (const [name, event] of named) size += name.length + event.size;
  }
  if (composer.op === "deadline" && composer.until) {
    const { kind, match } = composer.until;
    payload["armed_at"] = exactInstant(wall(fire.createdAt)) / 1000;
    payload["ttl"] = composer.ttlMs / 1000;
    payload["awaited"] = Object.freeze({ kind, match: Object.freeze({ ...match }) });
  }
  return frozenEvent({
    id: derivedId(composer.name, fire.cause.id),
    kind: composer.emit,
    payload: Object.freeze(payload),
    chainId: fire.cause.chainId,
    at,
    size,
  });
}

function byName({ inputs }: Composer, { events, matched }: Fire): ReadonlyMap<string, BusEvent> {
  const named = new Map<string, BusEvent>();
  events.forEach((event, index) => {
    for (const input of matched[index] ?? []) {
      const name = inputs[input]?.as;
      if (name) named.set(name, event);
    }
  });
  return named;
}

/** The same for the same cause: when a crash makes it happen again, it is known by its id. */
export function derivedId(composer: string, cause: string): string {
  const id = `${composer}@${cause}`;
  if (id.length <= LONGEST_ID) return id;
  return `${composer.slice(0, 100)}@${createHash("sha256").update(id).digest("hex")}`;
}
