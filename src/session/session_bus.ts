import type { ComposerHolding } from "../composers/composer.ts";

/** An event as the session publishes it. */
export interface PublishedEvent {
  /** Stable over a crash. */
  id: string;
  /** As it stands on the bus: `builtin:lifecycle:turn_end`, `llm:main:ready`, `mcp:<server>:<event>`. */
  kind: string;
  payload: Readonly<Record<string, unknown>>;
  chainId: string | null;
}

/** The bus of a session with the composers on it, as far as the session deals with them. There is none without composers. */
export interface SessionBus {
  /** False: `publish` of such an event would do nothing. */
  wants(kind: string): boolean;
  /** Undefined: nothing has to be waited for. Else resolves when what it armed is on disk; rejects when that failed. */
  publish(event: PublishedEvent): Promise<void> | undefined;
  /** Whether composers hold anything: their timers fire only while the session is loaded. */
  readonly holding: boolean;
  /** How many events wait for composers and for the hooks on what composers emit. */
  readonly waiting: number;
  /** What composers hold, at most `most` keys of each. */
  holdings(most: number): ComposerHolding[];
  /** Takes up what was pending, and publishes what is overdue. */
  start(): void;
  /** Undefined: nothing is queued. Else resolves when everything published so far has been handed on. */
  quiet(): Promise<void> | undefined;
  /** Hands on what is queued, then detaches the composers: what they hold and is not durable is dropped with a record. */
  close(): Promise<void>;
  /** Detaches everything at once, for a session that failed: what is durable stays on disk, for whoever opens it next. */
  abandon(): Promise<void>;
}
