import type { Audit } from "../audit/audit.ts";
import { ReynError } from "../errors/reyn_error.ts";
import type { Dispatcher } from "../hooks/dispatcher.ts";
import type { DispatchOutcome } from "../hooks/push.ts";
import type { InboxMessage, Op, PutOutcome } from "../store/store.ts";
import type { SessionContext, SessionPorts, SessionSettings } from "./context.ts";
import { openJournal } from "./journal.ts";
import { LONGEST_MESSAGE, textOf } from "./messages.ts";
import { createRunLoop } from "./run_loop.ts";
import type { SessionRecord, SessionState } from "./state.ts";
import { puts, suspension } from "./turn.ts";

export interface Session {
  readonly id: string;
  readonly state: Readonly<SessionState>;
  /** Puts a message in the inbox; durable when resolved. Throws E_MESSAGE_TOO_LARGE or E_INBOX_FULL. */
  accept(message: InboxMessage): Promise<"stored" | "duplicate">;
  /** Takes turns; see RunLoop. */
  run(options: { untilIdle: boolean }): Promise<void>;
  /** Stops taking turns; the one that runs is interrupted. */
  stop(): void;
  /** Fires session_end and gives the session up. Call once, when `run` has settled. */
  close(): Promise<void>;
}

export interface OpenSessionOptions {
  /** Names the process that owns the session. */
  owner: string;
  /** How long the session is claimed for. */
  leaseMs: number;
  settings: SessionSettings;
  ports: Omit<SessionPorts, "hooks">;
  /** Makes the dispatcher of this session; what its background lane pushes comes back through `deliver`. */
  hooks(deliver: (outcome: DispatchOutcome) => Promise<void>): Dispatcher;
}

/** Opens a session: recovers its state, and fires session_start, whose hooks are done when this resolves. */
export async function openSession(options: OpenSessionOptions): Promise<Session> {
  const { settings, owner, leaseMs } = options;
  const { store, audit, observe, fault } = options.ports;
  const id = `${settings.agent}/${settings.sid}`;
  const claim = await store.claim(id, owner, leaseMs);
  if (claim.status === "held") {
    throw new ReynError("E_ALREADY_RUNNING", `session ${id} is run by ${claim.owner}`);
  }
  const journal = await openJournal({
    session: id,
    epoch: claim.epoch,
    store,
    audit,
    cap: settings.cap,
    observe,
  });
  const stopping = new AbortController();
  const deliver = async (outcome: DispatchOutcome): Promise<void> => {
    await journal.commit(suspension(context, outcome), puts(context, outcome.pushes));
    loop.poke();
  };
  const ports: SessionPorts = { ...options.ports, hooks: options.hooks(deliver) };
  const context: SessionContext = { id, settings, ports, journal, stopping: stopping.signal };
  const loop = createRunLoop(context);

  const resumed = !claim.created;
  reportInterruption(audit, id, settings.agent, journal.state);
  await journal.commit([{ t: "opened", at: ports.clock.now() }]);
  fault("session:after_opened");
  audit.emit("chat_started", id, { agent_name: settings.agent });
  audit.emit("session_started", id, { agent_name: settings.agent, resumed });
  observe({ type: "session_opened", session: id, resumed });
  await fireSessionPoint(context, "session_start", claim.epoch);
  fault("session:after_start_hooks");

  return {
    id,
    state: journal.state,
    async accept(message) {
      if (textOf(message).length > LONGEST_MESSAGE) {
        audit.emit("inbox_refused", id, { kind: message.kind, reason: "message too large" });
        throw new ReynError(
          "E_MESSAGE_TOO_LARGE",
          `the message is longer than ${LONGEST_MESSAGE} characters`,
        );
      }
      const outcome = await store.put(id, message);
      const answer = accepted(outcome, message, id, audit, loop.poke);
      if (answer === "stored") observe({ type: "accepted", id: message.id, kind: message.kind });
      return answer;
    },
    run: (runOptions) => loop.run(runOptions),
    stop: () => stopping.abort(new Error("the session is stopping")),
    async close() {
      await ports.hooks.drained();
      audit.emit("chat_stopped", id, { agent_name: settings.agent });
      audit.emit("session_completed", id, { agent_name: settings.agent });
      await fireSessionPoint(context, "session_end", claim.epoch);
      await ports.hooks.drained();
      fault("session:after_end_hooks");
      await journal.commit([{ t: "ended", at: ports.clock.now() }]);
      observe({ type: "session_ended", session: id });
      await store.release(id, claim.epoch);
    },
  };
}

function reportInterruption(audit: Audit, id: string, agent: string, state: SessionState): void {
  if (!state.open) return;
  audit.emit("session_interrupted", id, { agent_name: agent, turn: state.current?.turn ?? null });
}

function accepted(
  outcome: PutOutcome,
  message: InboxMessage,
  id: string,
  audit: Audit,
  poke: () => void,
): "stored" | "duplicate" {
  switch (outcome.status) {
    case "stored":
      if (outcome.dropped.length > 0) {
        audit.emit("inbox_dropped", id, { ids: outcome.dropped, reason: "inbox full of passive messages" });
      }
      poke();
      return "stored";
    case "duplicate":
      return "duplicate";
    case "full":
      audit.emit("inbox_refused", id, { kind: message.kind, reason: "inbox full" });
      throw new ReynError("E_INBOX_FULL", `the inbox of ${id} is full; the message was not taken`);
  }
}

/** Fires session_start or session_end. A wake from session_end waits, passive, for the next open. */
async function fireSessionPoint(
  context: SessionContext,
  point: "session_start" | "session_end",
  epoch: number,
): Promise<void> {
  const { ports, journal, settings } = context;
  if (!ports.hooks.has(point)) return;
  const outcome = await ports.hooks.dispatch({
    key: point,
    id: `${context.id}/run${epoch}/${point}`,
    chainId: null,
    payload: { point, agent_name: settings.agent, hook_driven_turns: journal.state.valve.count },
  });
  const pushes = point === "session_end"
    ? outcome.pushes.map((push) => ({ ...push, wake: false }))
    : outcome.pushes;
  const records: SessionRecord[] = suspension(context, outcome);
  const ops: Op[] = puts(context, pushes);
  if (records.length > 0 || ops.length > 0) await journal.commit(records, ops);
}
