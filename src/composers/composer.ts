import type { Layer } from "../config/section.ts";
import type { RateLimit } from "../hooks/hook.ts";
import type { Matcher } from "../match/matcher.ts";

export const COMPOSER_OPS = [
  "all",
  "any",
  "seq",
  "window",
  "debounce",
  "correlate_by",
  "count",
  "deadline",
] as const;
export type ComposerOp = typeof COMPOSER_OPS[number];

export const OVERFLOW_POLICIES = ["drop_oldest", "drop_newest", "reject"] as const;
export type Overflow = typeof OVERFLOW_POLICIES[number];

/** One kind of event that a composer takes. */
export interface ComposerInput {
  /** As it stands on the bus of the session: what `parseKind` gives. */
  kind: string;
  /** Compiled `match`; null: every event of the kind. */
  matcher: Matcher | null;
  /** The `match` as written, for a deadline's `awaited` and for listings. */
  match: Readonly<Record<string, string>>;
  /** Its name in `by_name` of the derived payload; null: none. */
  as: string | null;
}

/** A composer made ready to run. Nothing about it is parsed or checked again when an event comes. */
export interface Composer {
  /** Unique in the combined list. */
  name: string;
  op: ComposerOp;
  layer: Layer;
  /** Position in its layer's list. */
  index: number;
  /** What counts towards a fire. `deadline`: exactly one, its `on` with its `matcher`. */
  inputs: readonly ComposerInput[];
  /** `deadline`: what disarms it; else null. */
  until: ComposerInput | null;
  /** Any of these throws away what is pending for its key; empty: none. */
  unless: readonly ComposerInput[];
  /** `composed:<name>`. */
  emit: string;
  ttlMs: number;
  /** Most keys pending at once. */
  capacity: number;
  overflow: Overflow;
  /** Most events buffered for one key. */
  maxEventsPerKey: number;
  /** Most bytes of payloads buffered for all keys together, and of one event that is taken. */
  maxBytes: number;
  /** Payload field to key on; null: one key, `__default__`. */
  correlateBy: string | null;
  /** `count`: the threshold; else null. */
  count: number | null;
  /** `debounce`: longest wait from the first event; null: none. */
  maxWaitMs: number | null;
  /** Of fires; null: none. */
  rateLimit: RateLimit | null;
  /** Whether what is pending is kept over a crash. */
  durable: boolean;
}

/** The key of events that do not carry the field, and of composers that have none. */
export const DEFAULT_KEY = "__default__";

/** Why something pending, or a new event, did not come to a fire. */
export type DropReason =
  | "ttl_evict"
  | "capacity_drop_oldest"
  | "capacity_drop_newest"
  | "capacity_reject"
  | "per_key_event_cap"
  /** Too many bytes of payloads are pending, or one event is that large. */
  | "byte_cap"
  /** `seq`: an event out of order threw progress away. */
  | "out_of_order"
  /** An `unless` input came. */
  | "cancelled"
  | "rate_limited"
  /** Composed events led to more composed events than the engine follows. */
  | "chain_limit"
  /** The session's run ended with this pending and not durable. */
  | "session_closed"
  /** Restored, but no durable composer of this name is declared any more. */
  | "composer_removed"
  /** Restored, but its composer has another op now, or no input that takes one of its events. */
  | "composer_changed";

/**
 * Something durable that is pending, as JSON. Instants are wall-clock epoch milliseconds. `pending`: events of one key
 * that wait. `fired`: the derived event was published, and not all hooks on it have settled; it is published again,
 * under the same id, when it is found at start.
 */
export type StoredRecord =
  | {
    t: "pending";
    composer: string;
    op: ComposerOp;
    key: string;
    /** First event of this round; a deadline's arm instant. */
    created_at: number;
    /** Latest event of this round. */
    last_at: number;
    events: StoredEvent[];
  }
  | { t: "fired"; composer: string; op: ComposerOp; key: string; event: StoredEvent };

export interface StoredEvent {
  id: string;
  kind: string;
  payload: Readonly<Record<string, unknown>>;
  chain_id: string | null;
  at: number;
}

/** One record to be kept, replaced or, with null, forgotten. `id` is unique among all records of the session. */
export interface StoredChange {
  id: string;
  record: StoredRecord | null;
}

/**
 * Where durable pending state of one session lives. Changes given in one turn of the loop, and while a rewrite runs,
 * share the next rewrite.
 */
export interface PendingStore {
  /** Takes the changes at once, in order; resolves when they are on disk. Rejects when they could not be written. */
  save(changes: readonly StoredChange[]): Promise<void>;
}

/** What a listing shows of one composer. Instants are wall-clock epoch milliseconds. */
export interface ComposerStatus {
  name: string;
  op: ComposerOp;
  /** Keys pending now. */
  pending: number;
  /** When the next timer of it is due; null: none. */
  next_due: number | null;
  fires: number;
  last_fire: number | null;
  drops: Partial<Record<DropReason, number>>;
}

/** What one composer holds. Instants are wall-clock epoch milliseconds. */
export interface ComposerHolding {
  composer: Composer;
  /** How many keys are pending, the listed ones included. */
  pending: number;
  keys: { key: string; createdAt: number; lastAt: number; events: number }[];
}

/** Runs the composers of one session on its bus (`createEngine` in engine.ts). */
export interface ComposerEngine {
  /**
   * Attaches to the bus; before it resolves, overdue deadlines have been published and `fired` records published
   * again, so attach the consumer of `composed:*` first.
   */
  start(restored?: readonly StoredRecord[]): void;
  /**
   * Null: every event published so far has been taken and nothing durable is unsaved. Else resolves when that is so;
   * rejects when a save failed. A door that acknowledges an event waits for it first.
   */
  settled(): Promise<void> | null;
  /** All hooks on this composed event have settled; it need not be published again after a crash. Unknown ids: no-op. */
  settle(eventId: string): void;
  status(): ComposerStatus[];
  /** What waits now, composer by composer, the oldest first: at most `most` keys of each. */
  holdings(most: number): ComposerHolding[];
  /** Events that wait to be taken. */
  readonly queued: number;
  /** Keys pending in composers that are not durable: such a session is not unloaded. */
  readonly volatile: number;
  /**
   * Takes what is queued, detaches, drops what is not durable (each with a record) and resolves when all is saved.
   * Timers stop; durable ones are found again by the next start.
   */
  stop(): Promise<void>;
}
