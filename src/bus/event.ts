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
}

/** Makes an event, frozen with all that is in its payload: nobody who sees it can change it for another. */
export function busEvent(fields: Omit<BusEvent, "source">): BusEvent {
  const { id, kind, payload, chainId, at } = fields;
  freezeDeep(payload);
  return Object.freeze({ id, kind, payload, source: "builtin", chainId, at });
}
