import { existsSync } from "node:fs";
import process from "node:process";
import type { Audit } from "../audit/audit.ts";
import { createDispatcher, type Dispatcher } from "../hooks/dispatcher.ts";
import type { Hook } from "../hooks/hook.ts";
import { type HookRegistry, hookRegistry, NO_HOOKS } from "../hooks/registry.ts";
import type { SessionRef } from "../hooks/session_ref.ts";
import type { Interventions } from "../interventions/interventions.ts";
import { makeWorkspace } from "../agents/workspace.ts";
import { createModel } from "../model/create_model.ts";
import type { Model } from "../model/model.ts";
import { fireOnce } from "../session/fire_once.ts";
import type { FireOnce } from "../session/firing.ts";
import { putMessage } from "../session/put_message.ts";
import { openSession, type OpenSessionOptions, type Session } from "../session/session.ts";
import type { TimerQueue } from "../clock/timer_queue.ts";
import type { SessionBus } from "../session/session_bus.ts";
import type { Store } from "../store/store.ts";
import { type Configuration, loadForSession, requireUsable } from "./configuration.ts";
import { declaredCommands } from "./declared_commands.ts";
import type { Execution } from "./exec_ports.ts";
import { untrustedKeys } from "./audit_trust.ts";
import { operatorStamp } from "../consent/operator_secret.ts";
import { consentAsker, openInterventions } from "./interventions.ts";
import { type LoadedSessions, loadedSessions } from "./loaded_sessions.ts";
import { openBare, type OpenBareOptions } from "./open_bare.ts";
import { pendingPath } from "./places.ts";
import { createRouter } from "./route.ts";
import type { RunEvent } from "./run_event.ts";
import type { Configurations } from "./serve_configuration.ts";
import { forgetStaleQuestions } from "./stale_questions.ts";
import { questionKeyFile, surroundings } from "./surroundings.ts";

export interface Runtime {
  store: Store;
  audit: Audit;
  sessions: LoadedSessions;
  /** Where surfaces attach that people answer on. */
  interventions: Interventions;
  /** Fires a point by hand in the configuration's own session, without opening it for work. */
  fire(firing: FireOnce, options: FireOptions): Promise<void>;
  /** Ends loaded sessions, drivers, the store and the log, then gives the state folder up. */
  close(): Promise<void>;
  /** For a process that goes now: ends at once what drivers have started, and writes the log out. */
  abandon(): Promise<void>;
}

export interface FireOptions {
  /** Told of each audit event that comes of it. */
  record: (type: string, data: Record<string, unknown>) => void;
  /** From then on nobody is asked for consent. */
  stopping: AbortSignal;
}

export interface OpenRuntimeOptions extends OpenBareOptions {
  /** Of the session that the process is about; others are read when they are loaded. */
  configuration: Configuration;
  hooks: boolean;
  /** How long surfaces may take to come back after a crash to what they had been asked. Default 0. */
  surfacesReturnMs?: number;
  /** Where the others come from in a process that lives long; read afresh for each without it. */
  configurations?: Configurations;
  /** Told of everything that happens in a session. */
  observe: (event: RunEvent, session: string) => void;
  /** Told of a session that could not be loaded, run or ended. */
  onFailure: (session: string, error: unknown) => void;
}

/** A session with nothing to do stays loaded this long. */
const KEEP_MS = 5 * 60_000;
const MOST_LOADED = 1000;

/** Takes the state folder and opens what every front door needs; see `openBare` for what is refused. */
export async function openRuntime(options: OpenRuntimeOptions): Promise<Runtime> {
  const { controlDir, configuration, host, observe, onFailure } = options;
  const bare = await openBare(options);
  const { store, audit } = bare;
  const own = `${configuration.agent}/${configuration.sid}`;
  /** Names this start of the process in the journals of sessions. */
  const runtime = `${process.pid}.${host.clock.now()}.${host.ids.next()}`;
  const models = new Map<string, Model>();
  /** Sessions that share their hooks share their registry. */
  const registries = new WeakMap<readonly Hook[], HookRegistry>();
  const declared = declaredCommands(controlDir);
  let execution: Promise<Execution> | undefined;

  const registryOf = (hooks: readonly Hook[]): HookRegistry => {
    const known = registries.get(hooks);
    if (known) return known;
    const made = hookRegistry(hooks);
    registries.set(hooks, made);
    return made;
  };

  const modelOf = ({ agent, model: config, workspace, recheckCommand }: Configuration): Model => {
    const known = models.get(agent);
    if (known) return known;
    const model = createModel(config, {
      controlDir,
      clock: host.clock,
      env: process.env,
      ids: host.ids,
      workspace: () => makeWorkspace(workspace),
      recheckCommand,
    });
    models.set(agent, model);
    return model;
  };

  const configure = (ref: SessionRef): Configuration => {
    const id = `${ref.agent}/${ref.sid}`;
    const loaded = id === own
      ? configuration
      : options.configurations?.of(ref) ?? loadForSession({ controlDir, ...ref });
    const refused = untrustedKeys(loaded);
    if (refused) audit.emit("project_untrusted", id, refused);
    requireUsable(loaded);
    for (const { layer, file, findings } of loaded.skipped) {
      audit.emit("layer_skipped", id, { layer, file, findings });
    }
    return loaded;
  };

  const optionsFor = async (
    ref: SessionRef,
    told: Pick<OpenSessionOptions["ports"], "audit" | "routed" | "wanted">,
  ): Promise<OpenSessionOptions> => {
    const id = `${ref.agent}/${ref.sid}`;
    const loaded = configure(ref);
    const registry = options.hooks ? registryOf(loaded.hooks) : NO_HOOKS;
    if (options.hooks) declared.loaded(ref, loaded.hooks, { partial: loaded.skipped.length > 0 });
    const commands = loaded.hooks.some(runsCommand)
      ? (await (execution ??= openCommands(options, audit))).ports
      : null;
    const tell = (event: RunEvent) => observe(event, id);
    const composing = options.hooks ? await composers.of(loaded) : undefined;
    const model = modelOf(loaded);
    return {
      owner: bare.owner,
      runtime,
      leaseMs: bare.leaseMs,
      settings: loaded.session,
      ports: { store, clock: host.clock, model, interventions, observe: tell, fault: host.fault, ...told },
      hooks: (deliver, stopping) =>
        createDispatcher(registry, {
          session: id,
          audit: told.audit,
          clock: host.clock,
          route: router.from(ref),
          deliver,
          exec: commands &&
            {
              ...commands,
              audit: told.audit,
              asker: consentAsker({ interventions, stopping, stamp, left }),
              commands: declared.all,
            },
          switchedOff: (hook) => hook.name !== null && loaded.disabled.has(hook.name),
          observe: tell,
        }),
      bus: (dispatcher) => composing?.(dispatcher, tell) ?? null,
    };
  };

  const since = host.clock.now();
  /** Ids of questions of consent that an earlier process left. */
  const left = new Set<string>();
  const open = async (ref: SessionRef, wanted: () => void): Promise<Session> => {
    const session = await optionsFor(ref, { audit, routed: sessions.arrived, wanted })
      .then(openSession)
      .catch((error: unknown) => {
        declared.gone(ref);
        throw error;
      });
    try {
      const { id, state } = session;
      const kept = await forgetStaleQuestions(id, state, { store, interventions, audit, since });
      for (const question of kept) left.add(question);
      return session;
    } catch (error) {
      // It would live on beside the one that is opened anew.
      await session.abandon();
      declared.gone(ref);
      throw error;
    }
  };

  const composers = createComposing(options, audit);
  const stamp = operatorStamp(questionKeyFile(controlDir));
  const interventions = openInterventions({
    store,
    audit,
    clock: host.clock,
    // One that nobody was there to answer may have let its session go.
    answered: (session) => sessions.arrived(session, true),
    returnMs: options.surfacesReturnMs ?? 0,
  });
  const router = createRouter({ store, agents: configuration.agents, clock: host.clock });
  const sessions = loadedSessions({
    clock: host.ioClock,
    open,
    put: (id, message) => putMessage(id, message, store, audit),
    onFailure,
    onGone: declared.gone,
    keepMs: KEEP_MS,
    most: MOST_LOADED,
  });

  return {
    store,
    audit,
    sessions,
    interventions,
    async fire(firing, { record, stopping }) {
      const told: Audit = {
        ...audit,
        emit(type, session, data) {
          const built = typeof data === "function" ? data() : data;
          record(type, built as unknown as Record<string, unknown>);
          audit.emit(type, session, built);
        },
      };
      const ref = { agent: configuration.agent, sid: configuration.sid };
      const nothing = () => {};
      const prepared = await optionsFor(ref, { audit: told, routed: nothing, wanted: nothing });
      await fireOnce(prepared, firing, stopping);
    },
    async close() {
      try {
        await sessions.close();
      } finally {
        composers.close();
        await Promise.all([...models.values()].map((model) => model.close()));
        await (await execution)?.close();
        await bare.close();
      }
    },
    async abandon() {
      (await execution)?.abandon();
      await Promise.all([...models.values()].map((model) => model.close({ now: true })));
      await audit.flush();
    },
  };
}

function runsCommand({ action }: Hook): boolean {
  return action.scheme === "exec" || action.scheme === "exec_capture";
}

/** What commands of hooks need; loaded only where a hook runs one. */
async function openCommands(options: OpenRuntimeOptions, audit: Audit): Promise<Execution> {
  const { controlDir, configuration, host, talk } = options;
  const { openExecution } = await import("./exec_ports.ts");
  const execution = openExecution({
    surroundings: surroundings(controlDir),
    config: configuration.sandbox,
    clock: host.clock,
    ioClock: host.ioClock,
    audit,
    talk,
  });
  const runsPlugin = ({ action }: Hook) => "plugin" in action && action.plugin !== null;
  if (configuration.hooks.some((hook) => hook.enabled && runsPlugin(hook))) execution.warmPlugins();
  return execution;
}

/** Opens the bus of a session for its hooks. */
type OpenBus = (hooks: Dispatcher, observe: (event: RunEvent) => void) => SessionBus | null;

interface Composing {
  /** Undefined where the session has no composers, and has left nothing pending. */
  of(loaded: Configuration): Promise<OpenBus | undefined>;
  close(): void;
}

/** What composers need; loaded only where there are some. The timers of all sessions are one queue. */
function createComposing(options: OpenRuntimeOptions, audit: Audit): Composing {
  const { controlDir, host, talk } = options;
  let timers: TimerQueue | undefined;
  return {
    async of({ composers, agent, sid }) {
      const own = { agent, sid };
      if (composers.length === 0 && !existsSync(pendingPath(controlDir, own))) return undefined;
      const { openSessionComposers, runtimeTimers } = await import("./session_composers.ts");
      const running = timers ??= runtimeTimers(host.clock, talk);
      return (hooks, observe) =>
        openSessionComposers({
          controlDir,
          own,
          composers,
          timers: running,
          ioClock: host.ioClock,
          audit,
          hooks,
          observe,
          talk,
          fault: host.fault,
        });
    },
    close: () => timers?.close(),
  };
}
