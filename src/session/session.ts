import type { Audit } from "../audit/audit.ts";
import { ReynError } from "../errors/reyn_error.ts";
import type { Dispatcher } from "../hooks/dispatcher.ts";
import type { DispatchOutcome } from "../hooks/push.ts";
import type { InboxMessage, Op } from "../store/store.ts";
import type { SessionContext, SessionPorts, SessionSettings } from "./context.ts";
import { openJournal } from "./journal.ts";
import { putMessage } from "./put_message.ts";
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
  /** Takes no further turn; the one that runs comes to its end. */
  finish(): void;
  /** Ends a suspension, durably; answers the hook that had suspended the session, null where none had. */
  resume(): Promise<string | null>;
  /** Says that the inbox may hold something new that did not come through `accept`. */
  poke(): void;
  /** True while something besides turns is under way, so that it may not be unloaded. */
  readonly busy: boolean;
  /** Fires session_end and gives the session up. Call once, when `run` has settled. */
  close(): Promise<void>;
  /** Gives the session up without ending it: the same runtime takes it up again as if nothing had been. */
  unload(): Promise<void>;
}

export interface OpenSessionOptions {
  /** Names the process that owns the session. */
  owner: string;
  /** Names this start of the process: what it unloaded itself it opens again in silence. */
  runtime: string;
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
    routed: options.ports.routed,
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
  const reloaded = journal.state.unloaded === options.runtime;
  if (!reloaded) reportInterruption(audit, id, settings.agent, journal.state);
  await journal.commit([{ t: "opened", at: ports.clock.now() }]);
  fault("session:after_opened");
  if (!reloaded) {
    audit.emit("chat_started", id, { agent_name: settings.agent });
    audit.emit("session_started", id, { agent_name: settings.agent, resumed });
    observe({ type: "session_opened", session: id, resumed });
    await fireSessionPoint(context, "session_start", claim.epoch);
    fault("session:after_start_hooks");
  }

  return {
    id,
    state: journal.state,
    async accept(message) {
      const answer = await putMessage(id, message, store, audit);
      if (answer === "stored") {
        loop.poke();
        observe({ type: "accepted", id: message.id, kind: message.kind });
      }
      return answer;
    },
    poke: loop.poke,
    get busy() {
      return ports.hooks.busy;
    },
    run: (runOptions) => loop.run(runOptions),
    stop: () => stopping.abort(new Error("the session is stopping")),
    finish: loop.finish,
    async resume() {
      const was = journal.state.suspended;
      if (was === null) return null;
      await journal.commit([{ t: "resumed", at: ports.clock.now() }]);
      loop.poke();
      return was;
    },
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
    async unload() {
      await ports.hooks.drained();
      await journal.commit([{ t: "unloaded", at: ports.clock.now(), runtime: options.runtime }]);
      await store.release(id, claim.epoch);
    },
  };
}

function reportInterruption(audit: Audit, id: string, agent: string, state: SessionState): void {
  if (!state.open || state.unloaded !== null) return;
  audit.emit("session_interrupted", id, { agent_name: agent, turn: state.current?.turn ?? null });
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
    ? outcome.pushes.map((push) => push.target === null ? { ...push, wake: false } : push)
    : outcome.pushes;
  const records: SessionRecord[] = suspension(context, outcome);
  const ops: Op[] = puts(context, pushes);
  if (records.length > 0 || ops.length > 0) await journal.commit(records, ops);
}
