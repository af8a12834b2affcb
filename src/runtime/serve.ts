import { setImmediate as nextTurn } from "node:timers/promises";
import type { Audit } from "../audit/audit.ts";
import { isReynError, ReynError } from "../errors/reyn_error.ts";
import { quote } from "../errors/quote.ts";
import type { FiringWatcher } from "../hooks/dispatcher.ts";
import type { SessionRef } from "../hooks/session_ref.ts";
import type { Interventions } from "../interventions/interventions.ts";
import type { FireOnce } from "../session/firing.ts";
import type { InboxMessage, SessionRow, Store } from "../store/store.ts";
import { type Configuration, requireNames } from "./configuration.ts";
import type { Instrument } from "./instrument.ts";
import type { LoadedSessions } from "./loaded_sessions.ts";
import type { RuntimeHost } from "./open_bare.ts";
import { openRuntime } from "./open_runtime.ts";
import { eventsDir, stateDir } from "./places.ts";
import type { Configurations } from "./serve_configuration.ts";
import { type EventHub, eventHub } from "./serve_events.ts";
import { createHealth, type Health } from "./serve_health.ts";
import { armedSessions } from "./serve_armed.ts";
import { type OutsideEvent, type PublishOutcome, serverPublishing } from "./serve_publish.ts";
import { createRetries } from "./serve_retries.ts";
import { type RunResult, serverRuns } from "./serve_run.ts";

/** All sessions of a control folder, hosted by one process: what every front door of a server works with. */
export interface Hosting {
  controlDir: string;
  stateDir: string;
  eventsDir: string;
  startedAt: number;
  store: Store;
  audit: Audit;
  sessions: LoadedSessions;
  interventions: Interventions;
  hub: EventHub;
  health: Health;
  agents: readonly string[];
  host: RuntimeHost;
  readonly stopping: boolean;
  /** Throws unless a session can be called that and its agent is declared. */
  requireSession(ref: SessionRef): void;
  /** See `LoadedSessions.accept`; refuses while stopping. */
  accept(ref: SessionRef, message: InboxMessage): Promise<"stored" | "duplicate">;
  /** Gives a session a message, if any, and resolves when it is idle. It is ended again where this opened it. */
  run(ref: SessionRef, message: InboxMessage | undefined): Promise<RunResult>;
  /** See `serverPublishing`. Throws for a session that cannot be. */
  publish(ref: SessionRef, event: OutsideEvent): Promise<PublishOutcome>;
  /** Fires a point by hand in a session, which is opened where it is not; see `fireLive`. */
  fire(ref: SessionRef, firing: FireOnce, told: FiringWatcher): Promise<void>;
  /** Ends an open session: `session_end` fires. Answers how many waking messages are left in its inbox. */
  end(ref: SessionRef): Promise<{ waiting: number }>;
  /** Ends a suspension; answers the hook that had suspended the session. */
  resume(ref: SessionRef): Promise<{ was: string | null }>;
  /** Sessions that were left with something to do. */
  due(): Promise<string[]>;
  /** Lets sessions take the turns that are there for them. */
  start(ids: readonly string[]): void;
  /**
   * Stops in order: no turn begins any more, those that run may end until `turnsMs` are over and are interrupted then; then
   * `session_end` fires in all that is loaded. Answers the sessions whose turn was interrupted.
   */
  drain(turnsMs: number): Promise<string[]>;
  /** Sessions that are still loaded. */
  loaded(): string[];
  close(): Promise<void>;
  abandon(): Promise<void>;
}

export interface OpenHostingOptions {
  controlDir: string;
  /** Of the agent `default`; decides what belongs to the whole process. */
  configuration: Configuration;
  configurations: Configurations;
  host: RuntimeHost;
  hooks: boolean;
  talk: (line: string) => void;
  /** Told of a session that could not be loaded, run or ended. */
  onFailure: (session: string, error: unknown) => void;
  instrument?: Instrument;
}

/** So that a start with very many sessions needs no memory for all of them. */
const ROWS_AT_ONCE = 500;
/** Messages that come this close to one another wait a pass of the event loop for each other. */
const DENSE_MS = 2;

/** Those who look at a server over the network come back within this time when it was killed. */
const SURFACES_RETURN_MS = 15_000;

/** Takes the state folder for a process that hosts all sessions; see `openBare` for what is refused. */
export async function openHosting(options: OpenHostingOptions): Promise<Hosting> {
  const { controlDir, configuration, configurations, host } = options;
  const { agents } = configuration;
  let stopping = false;
  let acceptedAt = -Infinity;
  let gate: Promise<void> | undefined;
  const hub = eventHub(host.ids.next());
  const health = createHealth({
    stateDir: stateDir(controlDir),
    clock: host.ioClock,
    stopping: () => stopping,
  });
  const retries = createRetries(host.ioClock, (id) => runtime.sessions.arrived(id, true));

  const runtime = await openRuntime({
    controlDir,
    verb: "serve",
    // No session is the process's own: each is loaded with what its files hold then.
    configuration: { ...configuration, sid: "" },
    configurations,
    host,
    talk: options.talk,
    hooks: options.hooks,
    surfacesReturnMs: SURFACES_RETURN_MS,
    ...(options.instrument ? { instrument: options.instrument } : {}),
    observe(event, session) {
      hub.publish(session, event);
      health.observe(session, event);
      if (event.type !== "turn_ended" || event.status === "error") return;
      retries.forget(session);
      health.recovered(session);
    },
    onFailure(session, error) {
      options.onFailure(session, error);
      runtime.audit.emit("session_failed", session, failureOf(error));
      if (stopping) return;
      health.failed(session, error);
      retries.failed(session);
    },
  });
  const { sessions, store } = runtime;

  const run = serverRuns({
    sessions,
    store,
    hub,
    get stopping() {
      return stopping;
    },
  });

  const requireRunning = () => {
    if (stopping) throw new ReynError("E_STOPPING", "reyn is stopping and takes nothing new");
  };

  const publish = serverPublishing({
    sessions,
    audit: runtime.audit,
    clock: host.ioClock,
    exists: async (session) => await store.session(session) !== undefined,
    requireRunning,
  });

  const rowOf = async (ref: SessionRef): Promise<SessionRow> => {
    requireNames(ref.agent, ref.sid);
    const id = `${ref.agent}/${ref.sid}`;
    const row = await store.session(id);
    if (row) return row;
    throw new ReynError("E_SESSION_UNKNOWN", `there is no session ${id}`, {
      fix: "`reyn sessions list` shows them",
    });
  };

  const hosting: Hosting = {
    controlDir,
    stateDir: stateDir(controlDir),
    eventsDir: eventsDir(controlDir),
    startedAt: host.clock.now(),
    store,
    audit: runtime.audit,
    sessions,
    interventions: runtime.interventions,
    hub,
    health,
    agents,
    host,
    get stopping() {
      return stopping;
    },
    requireSession({ agent, sid }) {
      requireNames(agent, sid);
      if (agents.includes(agent)) return;
      throw new ReynError("E_AGENT_UNKNOWN", `no agent is called ${quote(agent)}`, {
        fix: `declared: ${agents.join(", ")}`,
      });
    },
    async accept(ref, message) {
      requireRunning();
      hosting.requireSession(ref);
      const now = host.ioClock.monotonic();
      const since = now - acceptedAt;
      acceptedAt = now;
      // What comes in together is made durable together.
      if (since < DENSE_MS) {
        await (gate ??= nextTurn().then(() => {
          gate = undefined;
        }));
      }
      return await sessions.accept(ref, message);
    },
    async run(ref, message) {
      requireRunning();
      hosting.requireSession(ref);
      return await run(ref, message);
    },
    async publish(ref, event) {
      requireRunning();
      hosting.requireSession(ref);
      return await publish(ref, event);
    },
    async fire(ref, firing, told) {
      requireRunning();
      hosting.requireSession(ref);
      for (;;) {
        const session = await sessions.load(ref);
        requireRunning();
        // It may have ended meanwhile.
        if (sessions.loaded(session.id)?.session === session) return await session.fire(firing, told);
      }
    },
    async end(ref) {
      requireRunning();
      const row = await rowOf(ref);
      if (!sessions.loaded(row.id) && row.status["open"] !== true) {
        throw new ReynError("E_SESSION_UNKNOWN", `session ${row.id} is not open`);
      }
      await sessions.end(ref);
      const left = await store.session(row.id);
      return { waiting: left?.waking ?? 0 };
    },
    async resume(ref) {
      requireRunning();
      const row = await rowOf(ref);
      if (typeof row.status["suspended"] !== "string") return { was: null };
      const session = await sessions.load(ref);
      const was = await session.resume();
      health.resumed(row.id);
      sessions.start(session);
      return { was };
    },
    async due() {
      const due: string[] = [];
      for (let after = "";;) {
        const rows = await store.sessions({ after, limit: ROWS_AT_ONCE, ofNote: true });
        for (const row of rows) {
          health.seed(row);
          if (isDue(row, configuration.session.resume === "retry")) due.push(row.id);
        }
        const last = rows.at(-1);
        if (!last || rows.length < ROWS_AT_ONCE) break;
        after = last.id;
      }
      const armed = armedSessions(controlDir, agents);
      return [...new Set([...due, ...armed])];
    },
    start: (ids) => ids.forEach((id) => sessions.arrived(id, true)),
    async drain(turnsMs) {
      stopping = true;
      retries.stop();
      let over = false;
      const cut: string[] = [];
      const cancel = host.clock.after(turnsMs, () => {
        if (over) return;
        for (const { id, active } of sessions.list()) if (active) cut.push(id);
        sessions.stop();
      });
      await sessions.drain();
      over = true;
      cancel();
      await sessions.close();
      return cut;
    },
    loaded: () => sessions.list().map(({ id }) => id),
    close: () => runtime.close(),
    abandon: () => runtime.abandon(),
  };
  return hosting;
}

function failureOf(error: unknown): { code: string; error: string } {
  if (isReynError(error)) return { code: error.code, error: error.message };
  return { code: "E_INTERNAL", error: error instanceof Error ? error.name : "unknown" };
}

/** Whether a session was left with something to do by whoever ran it before. */
function isDue({ status, waking }: SessionRow, retry: boolean): boolean {
  if (waking > 0) return true;
  if (status["open"] === true && status["unloaded"] !== true) return true;
  return retry && status["retry"] === true;
}
