import { createHash } from "node:crypto";
import type { Audit } from "../audit/audit.ts";
import type { Clock } from "../clock/clock.ts";
import { ReynError } from "../errors/reyn_error.ts";
import type { SessionRef } from "../hooks/session_ref.ts";
import type { Session } from "../session/session.ts";
import { createEventMemory } from "./event_memory.ts";
import { hourlyBound } from "./hourly_bound.ts";
import type { LoadedSessions } from "./loaded_sessions.ts";
import { publishEvent } from "./publish_event.ts";

/** An event that somebody sends to a session of a server. */
export interface OutsideEvent {
  /** As it stands on the bus: `http:<token>:<name>`, `mcp:<server>:<event>`, `webhook:<name>`. */
  kind: string;
  payload: Readonly<Record<string, unknown>>;
  /** Unique over all sessions. */
  id: string;
  /** Whether it may be sent again under the same id. */
  repeatable: boolean;
  /** Who sends it. */
  by: string;
}

/** `unheard`: no composer of the session waits for such events. */
export type PublishOutcome = "heard" | "unheard" | "duplicate";

export interface PublishPorts {
  sessions: Pick<LoadedSessions, "load" | "loaded">;
  audit: Pick<Audit, "emit">;
  clock: Clock;
  /** Whether a session of this id was ever opened. */
  exists(session: string): Promise<boolean>;
  /** Throws when nothing is taken any more. */
  requireRunning(): void;
}

/** Events that wait on the bus of one session; more are refused. */
export const MOST_WAITING = 1024;
/** Events that are being taken at the same time. */
const AT_ONCE = 64;
const AT_ONCE_IN_ALL = 512;
/** How long a session may take to load before whoever sends is told to come back. */
const LOAD_MS = 10_000;
/** Sessions that events may bring into being within an hour. */
export const MOST_MADE = 1000;

/**
 * Publishes events from outside on the buses of sessions, which are loaded for it. What it answers with is true when everything
 * durable that the event armed is on disk. Throws E_EVENTS_FULL where a session falls behind or too many were made,
 * E_MESSAGE_KEY for the id of another event, and what keeps the session from loading.
 */
export function serverPublishing(ports: PublishPorts) {
  const { sessions, audit, clock, exists, requireRunning } = ports;
  const made = hourlyBound(MOST_MADE, clock);
  const memory = createEventMemory();
  const underWay = new Map<string, number>();
  let inAll = 0;

  const loaded = async (ref: SessionRef, session: string): Promise<Session> => {
    if (!sessions.loaded(session) && !await exists(session) && !made.take(session)) {
      throw full(`events have made ${MOST_MADE} sessions within an hour`);
    }
    let cancel = () => {};
    const late = new Promise<never>((_, reject) => {
      cancel = clock.after(LOAD_MS, () => reject(full(`session ${session} is still being opened`)));
    });
    try {
      return await Promise.race([sessions.load(ref), late]);
    } finally {
      cancel();
    }
  };

  const taken = async (ref: SessionRef, session: string, event: OutsideEvent): Promise<PublishOutcome> => {
    const { kind, payload, id } = event;
    const opened = await loaded(ref, session);
    requireRunning();
    // It may have ended meanwhile. From here to the bus nothing is awaited.
    if (sessions.loaded(session)?.session !== opened) return await taken(ref, session, event);
    if (!opened.hears(kind)) return "unheard";
    if (opened.waitingEvents >= MOST_WAITING) {
      throw full(`${MOST_WAITING} events wait in session ${session} already`);
    }
    await publishEvent(opened, ref, { kind, payload, id });
    return "heard";
  };

  return async (ref: SessionRef, event: OutsideEvent): Promise<PublishOutcome> => {
    requireRunning();
    const session = `${ref.agent}/${ref.sid}`;
    const now = underWay.get(session) ?? 0;
    if (now >= AT_ONCE || inAll >= AT_ONCE_IN_ALL) {
      throw full(`${now >= AT_ONCE ? now : inAll} events are being taken already`);
    }
    underWay.set(session, now + 1);
    inAll += 1;
    try {
      const work = () => taken(ref, session, event);
      const outcome = event.repeatable
        ? await memory.once(session, event.id, digestOf(event), work)
        : await work();
      if (outcome === "conflict") {
        throw new ReynError("E_MESSAGE_KEY", `${session} has had another event under that key`, {
          fix: "send a new event under a key of its own; only a repetition has the key of the first",
        });
      }
      audit.emit("bus_event_published", session, {
        event_id: event.id,
        kind: event.kind,
        by: event.by,
        outcome,
      });
      return outcome;
    } finally {
      inAll -= 1;
      const left = (underWay.get(session) ?? 1) - 1;
      if (left === 0) underWay.delete(session);
      else underWay.set(session, left);
    }
  };
}

/** Of what an event says; the order of keys says nothing. */
function digestOf({ kind, payload }: OutsideEvent): string {
  const text = JSON.stringify([kind, payload], (_key, value: unknown) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return { "": Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)) };
  });
  return createHash("sha256").update(text).digest("base64");
}

function full(message: string): ReynError {
  return new ReynError("E_EVENTS_FULL", message, { fix: "send it again later" });
}
