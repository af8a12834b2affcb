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

/**
 * Does in a server what `reyn run` does alone: opens the session, gives it the message, and waits until it is idle. A session
 * that was not open is ended again, unless something else has come to it meanwhile.
 */
export async function followRun(
  hosting: RunPorts,
  ref: SessionRef,
  message: InboxMessage | undefined,
): Promise<RunResult> {
  const { sessions, store, hub } = hosting;
  const id = `${ref.agent}/${ref.sid}`;
  const before = await store.session(id);
  const wasOpen = sessions.loaded(id) !== undefined || before?.status["open"] === true;
  const turns = new Set<number>();
  let failed = false;
  let others = 0;
  const untap = hub.tap(id, (event) => {
    if (event.type === "accepted" && event.id !== message?.id) others += 1;
    if (event.type === "turn_started" && concerns(event, message)) turns.add(event.turn);
    if (event.type === "turn_ended" && turns.has(event.turn)) failed = event.status === "error";
  });
  try {
    const session = await sessions.load(ref);
    if (message) await session.accept(message);
    sessions.start(session);
    await sessions.settled(id);
    const suspended = session.state.suspended;
    const cut = hosting.stopping;
    const stands = sessions.loaded(id)?.session === session;
    const ended = stands && !wasOpen && others === 0 && !cut;
    if (ended) await sessions.end(ref);
    return { failed: failed || (!stands && !cut), suspended, ended, cut };
  } finally {
    untap();
  }
}

/** Whether a turn is about this message or, without one, about any of a person. */
function concerns(
  { kind, messages }: Extract<RunEvent, { type: "turn_started" }>,
  message: InboxMessage | undefined,
): boolean {
  return message ? messages.some(({ id }) => id === message.id) : kind === "user";
}
