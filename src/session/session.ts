import type { Audit } from "../audit/audit.ts";
import { ReynError } from "../errors/reyn_error.ts";
import type { ComposerHolding } from "../composers/composer.ts";
import type { Dispatcher, FiringWatcher } from "../hooks/dispatcher.ts";
import type { DispatchOutcome, HookPush } from "../hooks/push.ts";
import { parseTarget } from "../points/reactions.ts";
import type { InboxMessage, Op } from "../store/store.ts";
import type { SessionContext, SessionPorts, SessionSettings } from "./context.ts";
import { gatherDeliveries } from "./delivery.ts";
import { fireLive } from "./fire_live.ts";
import type { FireOnce } from "./firing.ts";
import { firePoint, hasListeners } from "./fire_point.ts";
import { openJournal } from "./journal.ts";
import { putMessage } from "./put_message.ts";
import { createRunLoop } from "./run_loop.ts";
import type { SessionRecord, SessionState } from "./state.ts";
import type { PublishedEvent, SessionBus } from "./session_bus.ts";
import { puts, suspension } from "./turn.ts";

export interface Session {
  readonly id: string;
  readonly state: Readonly<SessionState>;
  /** Puts a message in the inbox; durable when resolved. Throws E_MESSAGE_TOO_LARGE or E_INBOX_FULL. */
  accept(message: InboxMessage): Promise<"stored" | "duplicate">;
  /**
   * Publishes an event that comes from outside: composers see it, and hooks at its point run in the background. Resolves
   * when what it armed is on disk; rejects when that failed.
   */
  publish(event: PublishedEvent): Promise<void>;
  /** Whether a composer, or a hook by way of one, wants events of this kind. */
  hears(kind: string): boolean;
  /** How many events wait on its bus: a source that can wait heeds it. */
  readonly waitingEvents: number;
  /** What its composers hold, at most `most` keys of each. */
  holdings(most: number): ComposerHolding[];
  /** See `fireLive`. */
  fire(firing: FireOnce, told: FiringWatcher): Promise<void>;
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
  /** Lets go of a session that failed: nothing of it happens any more, so that it can be opened anew. Never throws. */
  abandon(): Promise<void>;
}

export interface OpenSessionOptions {
  /** Names the process that owns the session. */
  owner: string;
  /** Names this start of the process: what it unloaded itself it opens again in silence. */
  runtime: string;
  /** How long the session is claimed for. */
  leaseMs: number;
  settings: SessionSettings;
  ports: Omit<SessionPorts, "hooks" | "bus">;
  /**
   * Makes the dispatcher of this session; what its background lane pushes comes back through `deliver`. `stopping` is aborted when
   * the session is to stop.
   */
  hooks(deliver: (outcome: DispatchOutcome) => Promise<void>, stopping: AbortSignal): Dispatcher;
  /** Makes the session's bus, for which these hooks run; without it, or with null, nothing is published. */
  bus?: (hooks: Dispatcher) => SessionBus | null;
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
  let ending = false;
  const deliver = gatherDeliveries(async (pushes, suspendedBy) => {
    const kept = ending ? asleep(pushes) : pushes;
    const records = suspension(context, { pushes: kept, suspendedBy });
    if (records.length > 0 || kept.length > 0) await journal.commit(records, puts(context, kept));
    loop.poke();
  });
  const hooks = options.hooks(deliver, stopping.signal);
  const ports: SessionPorts = { ...options.ports, hooks, bus: options.bus?.(hooks) ?? null };
  const context: SessionContext = { id, settings, ports, journal, stopping: stopping.signal };
  const loop = createRunLoop(context);

  const abandon = async (): Promise<void> => {
    stopping.abort(new Error("the session has failed"));
    await ports.bus?.abandon().catch(() => {});
  };

  const resumed = !claim.created;
  const reloaded = journal.state.unloaded === options.runtime;
  const begin = async (): Promise<void> => {
    if (!reloaded) reportInterruption(audit, id, settings.agent, journal.state);
    await journal.commit([{ t: "opened", at: ports.clock.now() }]);
    fault("session:after_opened");
    if (!reloaded) {
      audit.emit("chat_started", id, { agent_name: settings.agent });
      audit.emit("session_started", id, { agent_name: settings.agent, resumed });
      observe({ type: "session_opened", session: id, resumed });
    }
    ports.bus?.start();
    if (!reloaded) {
      await fireSessionPoint(context, "session_start", claim.epoch);
      fault("session:after_start_hooks");
    }
  };
  try {
    await begin();
  } catch (error) {
    await abandon();
    throw error;
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
      return ports.hooks.busy || ports.bus?.holding === true || ports.bus?.quiet() !== undefined ||
        journal.state.valve.question !== null;
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
    async publish(event) {
      const saved = ports.bus?.publish(event);
      const point = parseTarget(event.kind);
      if (point?.kind === "builtin" && hooks.has(point.point)) {
        const { id: firing, payload, chainId } = event;
        await hooks.room();
        void hooks.dispatchBehind({ key: point.point, id: firing, payload, chainId });
      }
      if (saved) await saved;
      loop.poke();
    },
    hears: (kind) => ports.bus?.wants(kind) === true,
    get waitingEvents() {
      return ports.bus?.waiting ?? 0;
    },
    holdings: (most) => ports.bus?.holdings(most) ?? [],
    fire: (firing, told) => fireLive(ports, firing, told).finally(loop.poke),
    async close() {
      await settled(context);
      ending = true;
      audit.emit("chat_stopped", id, { agent_name: settings.agent });
      audit.emit("session_completed", id, { agent_name: settings.agent });
      await fireSessionPoint(context, "session_end", claim.epoch);
      await settled(context);
      await ports.bus?.close();
      fault("session:after_end_hooks");
      await journal.commit([{ t: "ended", at: ports.clock.now() }]);
      observe({ type: "session_ended", session: id });
      await store.release(id, claim.epoch);
    },
    async unload() {
      await settled(context);
      await ports.bus?.close();
      await journal.commit([{ t: "unloaded", at: ports.clock.now(), runtime: options.runtime }]);
      await store.release(id, claim.epoch);
    },
    abandon,
  };
}

/** A wake of a session that ends waits, passive, for the next open. */
function asleep(pushes: readonly HookPush[]): HookPush[] {
  return pushes.map((push) => push.target === null ? { ...push, wake: false } : push);
}

/** Everything that was published has been handed on, and no hook runs in the background. */
async function settled({ ports }: SessionContext): Promise<void> {
  for (;;) {
    await ports.hooks.drained();
    const queued = ports.bus?.quiet();
    if (!queued && !ports.hooks.busy) return;
    await queued;
  }
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
  const { journal, settings } = context;
  if (!hasListeners(context, point)) return;
  const outcome = await firePoint(context, point, {
    id: `${context.id}/run${epoch}/${point}`,
    chainId: null,
    payload: { point, agent_name: settings.agent, hook_driven_turns: journal.state.valve.count },
  });
  const pushes = point === "session_end" ? asleep(outcome.pushes) : outcome.pushes;
  const records: SessionRecord[] = suspension(context, outcome);
  const ops: Op[] = puts(context, pushes);
  if (records.length > 0 || ops.length > 0) await journal.commit(records, ops);
}
