import { freezeDeep } from "./freeze.ts";

/** One event as every subscriber of a session's bus sees it. */
export interface BusEvent {
  /** Stable over a crash: what happens twice for one cause has one id. */
  readonly id: string;
  /** `builtin:<family>:<point>`, `composed:<name>`, `llm:<sid>:<name>`, or of an open kind. */
  readonly kind: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly source: "builtin";
  readonly chainId: string | null;
  /** When it was emitted: epoch milliseconds on the steady clock, which wall-clock jumps do not move. */
  readonly at: number;
  /** About how many bytes the payload takes as JSON. */
  readonly size: number;
}

/**
 * Makes an event, frozen with what is in its payload, so that nobody who sees it changes it for another. Only lists of
 * more than 64 elements are protected by their type alone.
 */
export function busEvent(fields: Omit<BusEvent, "source" | "size">): BusEvent {
  return frozenEvent({ ...fields, size: freezeDeep(fields.payload) });
}

/** As `busEvent`, where everything in the payload is frozen and measured already. */
export function frozenEvent({ id, kind, payload, chainId, at, size }: Omit<BusEvent, "source">): BusEvent {
  return Object.freeze({ id, kind, payload, source: "builtin", chainId, at, size });
}
