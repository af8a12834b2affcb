import type { SessionRef } from "../hooks/session_ref.ts";
import type { InboxMessage, Store } from "../store/store.ts";
import type { RunEvent } from "./run_event.ts";
import type { LoadedSessions } from "./loaded_sessions.ts";
import type { EventHub } from "./serve_events.ts";

/** How a run over a server came out. */
export interface RunResult {
  /** The message's own turn failed (without a message, the last one of a person), or the session itself. */
  failed: boolean;
  /** The hook that suspended the session, if one did. */
  suspended: string | null;
  /** The session was ended with the run, which had opened it. */
  ended: boolean;
  /** The server stopped before the session was idle. */
  cut: boolean;
}

export interface RunPorts {
  sessions: LoadedSessions;
  store: Pick<Store, "session">;
  hub: Pick<EventHub, "tap">;
  readonly stopping: boolean;
}

/** The runs of one session that are under way. */
interface Attached {
  runs: number;
  /** One of them opened the session. */
  opened: boolean;
  /** What came in that was none of theirs. */
  others: number;
  messages: Set<string>;
}

/**
 * Does in a server what `reyn run` does alone: opens the session, gives it the message, and waits until it is idle. A session
 * that was not open is ended again by the last run, also where its message is refused, unless something else has come to it
 * meanwhile.
 */
export function serverRuns(ports: RunPorts) {
  const { sessions, store, hub } = ports;
  const attached = new Map<string, Attached>();

  const attach = (id: string): Attached => {
    const known = attached.get(id) ?? { runs: 0, opened: false, others: 0, messages: new Set() };
    attached.set(id, known);
    known.runs += 1;
    return known;
  };

  return async (ref: SessionRef, message: InboxMessage | undefined): Promise<RunResult> => {
    const id = `${ref.agent}/${ref.sid}`;
    const own = attach(id);
    if (message) own.messages.add(message.id);
    const turns = new Set<number>();
    let failed = false;
    let left = false;
    const untap = hub.tap(id, (event) => {
      if (event.type === "accepted" && !own.messages.has(event.id)) own.others += 1;
      if (event.type === "turn_started" && concerns(event, message)) turns.add(event.turn);
      if (event.type === "turn_ended" && turns.has(event.turn)) failed = event.status === "error";
    });
    const leave = (): boolean => {
      if (left) return false;
      left = true;
      untap();
      own.runs -= 1;
      if (own.runs === 0) attached.delete(id);
      return own.runs === 0;
    };
    try {
      const row = await store.session(id);
      const wasOpen = sessions.loaded(id) !== undefined || row?.status["open"] === true;
      if (!wasOpen) own.opened = true;
      const opened = await sessions.load(ref);
      const refused = message && await refusalOf(sessions.accept(ref, message));
      // What another one opened is that one's to end.
      if (refused && (!own.opened || own.runs > 1)) throw refused.error;
      if (!refused) sessions.start(opened);
      await sessions.settled(id);
      const session = sessions.loaded(id)?.session;
      const suspended = (session ?? opened).state.suspended;
      const cut = ports.stopping;
      const last = leave();
      const ended = last && session !== undefined && own.opened && own.others === 0 && !cut;
      if (ended) await sessions.end(ref);
      if (refused) throw refused.error;
      return { failed: failed || (session === undefined && !cut), suspended, ended, cut };
    } finally {
      leave();
    }
  };
}

/** What it was refused with, if it was. */
function refusalOf(taken: Promise<unknown>): Promise<{ error: unknown } | undefined> {
  return taken.then(() => undefined, (error: unknown) => ({ error }));
}

/** Whether a turn is about this message or, without one, about any of a person. */
function concerns(
  { kind, messages }: Extract<RunEvent, { type: "turn_started" }>,
  message: InboxMessage | undefined,
): boolean {
  return message ? messages.some(({ id }) => id === message.id) : kind === "user";
}
