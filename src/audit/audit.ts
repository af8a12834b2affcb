import type { AuditData, AuditType } from "./events.ts";

/** One line of the audit log as it is read back. */
export interface AuditEvent {
  id: string;
  type: string;
  /** ISO 8601, UTC, milliseconds. */
  timestamp: string;
  session: string | null;
  data: Record<string, unknown>;
}

/**
 * The audit port. `emit` never waits and never throws: it queues, and a group flush writes. Data given as a function
 * is built when it is flushed, so that the hot path pays nothing for it.
 */
export interface Audit {
  emit<T extends AuditType>(type: T, session: string | null, data: AuditData[T] | (() => AuditData[T])): void;
  /** Resolves when everything emitted so far is on disk. */
  flush(): Promise<void>;
  close(): Promise<void>;
}
