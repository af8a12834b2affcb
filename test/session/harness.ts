import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Audit } from "../../src/audit/audit.ts";
import { systemClock } from "../../src/clock/clock.ts";
import { createDispatcher } from "../../src/hooks/dispatcher.ts";
import type { DispatcherPorts } from "../../src/hooks/ports.ts";
import type { Hook } from "../../src/hooks/hook.ts";
import { hookRegistry } from "../../src/hooks/registry.ts";
import type { Interventions } from "../../src/interventions/interventions.ts";
import { echoModel } from "../../src/model/echo.ts";
import type { Model } from "../../src/model/model.ts";
import type { SessionSettings } from "../../src/session/context.ts";
import type { SessionEvent } from "../../src/session/events.ts";
import { openSession, type Session } from "../../src/session/session.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import type { Store } from "../../src/store/store.ts";
import { compileTemplate } from "../../src/template/mod.ts";

export interface Recorded {
  type: string;
  data: Record<string, unknown>;
}

/** Keeps what is emitted, in order. */
export function recordingAudit(): Audit & { events: Recorded[] } {
  const events: Recorded[] = [];
  return {
    events,
    emit(type, _session, data) {
      events.push({ type, data: (typeof data === "function" ? data() : data) as Record<string, unknown> });
    },
    flush: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

/** A template_push hook as the configuration would compile it. */
export function pushHook(
  point: "session_start" | "session_end" | "turn_start" | "turn_end",
  message: string,
  rest: {
    wake?: boolean;
    name?: string;
    index?: number;
    onError?: "continue" | "suspend";
    awaited?: boolean;
  } = {},
): Hook {
  const compiled = compileTemplate(message, { strict: true, escapeValues: true });
  if (!compiled.ok) throw new Error(compiled.error.message);
  const name = rest.name ?? null;
  const index = rest.index ?? 0;
  return {
    layer: "startup",
    index,
    name,
    label: name ?? `startup#${index}`,
    attribution: name ?? point,
    target: { kind: "builtin", point },
    matcher: null,
    noMatch: [],
    enabled: true,
    onError: rest.onError ?? "continue",
    overlap: "queue",
    rateLimit: null,
    awaited: rest.awaited ?? true,
    action: {
      scheme: "template_push",
      push: { message: compiled.template, wake: rest.wake ?? true, pushWhen: true, session: null },
    },
  };
}

export interface World {
  store: Store;
  audit: ReturnType<typeof recordingAudit>;
  events: SessionEvent[];
  open(options?: OpenOptions): Promise<Session>;
  /** Closes the store and opens the same file again, as after a crash. */
  crash(): Promise<void>;
  end(): Promise<void>;
}

export interface OpenOptions {
  hooks?: Hook[];
  model?: Model;
  settings?: Partial<SessionSettings>;
  interventions?: Interventions;
}

/** A store in a folder of its own, and sessions opened on it. */
export async function world(): Promise<World> {
  const dir = mkdtempSync(join(tmpdir(), "reyn-session-"));
  const audit = recordingAudit();
  const events: SessionEvent[] = [];
  const made: World = {
    store: await openSqliteStore({ dir, clock: systemClock }),
    audit,
    events,
    open({ hooks = [], model = echoModel(), settings = {}, interventions } = {}) {
      return openSession({
        owner: "local",
        runtime: "test",
        leaseMs: 3_600_000,
        settings: {
          agent: "default",
          sid: "main",
          cap: 25,
          onLimit: "warn",
          resetOn: [],
          resume: "retry",
          ...settings,
        },
        ports: {
          store: made.store,
          clock: systemClock,
          audit,
          model,
          ...(interventions ? { interventions } : {}),
          observe: (event) => void events.push(event),
          routed: () => {},
          wanted: () => {},
          fault: () => {},
        },
        hooks(deliver) {
          const ports: DispatcherPorts = {
            session: "default/main",
            audit,
            clock: systemClock,
            route: (target) =>
              target === "main" || target === "default/main" ? { to: "own" } : { to: "session", id: target },
            deliver,
            exec: null,
            switchedOff: () => false,
          };
          return createDispatcher(hookRegistry(hooks), ports);
        },
      });
    },
    async crash() {
      await made.store.close();
      made.store = await openSqliteStore({ dir, clock: systemClock });
    },
    async end() {
      await made.store.close();
      rmSync(dir, { recursive: true });
    },
  };
  return made;
}

export function texts(session: Session): string[] {
  return session.state.history.map((message) => message.text);
}
