import type { Audit } from "../../src/audit/audit.ts";
import { type Clock, systemClock } from "../../src/clock/clock.ts";
import { sequentialIds } from "../../src/clock/ids.ts";
import type { ChainHook, ChainOptions } from "../../src/decisions/chain.ts";
import type { Question } from "../../src/decisions/executor.ts";

export interface Emitted {
  type: string;
  data: Record<string, unknown>;
}

/** An audit log in memory. */
export function memoryAudit(): Audit & { events: Emitted[]; of(type: string): Record<string, unknown>[] } {
  const events: Emitted[] = [];
  return {
    events,
    of: (type) => events.filter((event) => event.type === type).map(({ data }) => data),
    emit(type, _session, data) {
      const built: object = typeof data === "function" ? data() : data;
      events.push({ type, data: { ...built } });
    },
    flush: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

export function chainHook(
  name: string,
  ask: (question: Question) => unknown,
  rest: Partial<Omit<ChainHook, "name" | "executor">> = {},
): ChainHook {
  return {
    name,
    executor: { ask },
    required: false,
    mode: "enforce",
    timeoutMs: 10_000,
    matches: () => true,
    ...rest,
  };
}

export function chainOptions(audit: Audit, clock: Clock = systemClock): ChainOptions {
  return { audit, clock, ids: sequentialIds("d"), chainTimeoutMs: Infinity };
}

/** The error of the first failure that was recorded; empty for none. */
export function failure(audit: ReturnType<typeof memoryAudit>): string {
  const error = audit.of("hooks.failed")[0]?.["error"];
  return typeof error === "string" ? error : "";
}
