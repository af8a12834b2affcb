/** One event as every subscriber of a session's bus sees it. Frozen when it is published, its payload too. */
export interface BusEvent {
  /** Stable over a crash: what happens twice for one cause has one id. */
  readonly id: string;
  /** Canonical: see `canonicalKind`. */
  readonly kind: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly source: "builtin";
  readonly chainId: string | null;
  /** When it was emitted: epoch milliseconds on the steady clock, which wall-clock jumps do not move. */
  readonly at: number;
}
