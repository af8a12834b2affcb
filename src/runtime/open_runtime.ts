import { existsSync } from "node:fs";
import process from "node:process";
import type { Audit } from "../audit/audit.ts";
import { createDispatcher, type Dispatcher } from "../hooks/dispatcher.ts";
import type { Hook } from "../hooks/hook.ts";
import { hookRegistry, NO_HOOKS } from "../hooks/registry.ts";
import { isSameSession, parseSessionRef } from "../hooks/session_ref.ts";
import { createModel } from "../model/create_model.ts";
import { openSession, type Session } from "../session/session.ts";
import type { SessionBus } from "../session/session_bus.ts";
import type { Store } from "../store/store.ts";
import type { Configuration } from "./configuration.ts";
import { openBare, type OpenBareOptions } from "./open_bare.ts";
import type { Execution } from "./exec_ports.ts";
import { pendingPath } from "./places.ts";
import { surroundings } from "./surroundings.ts";
import type { RunEvent } from "./run_event.ts";

export interface Runtime {
  store: Store;
  audit: Audit;
  /** Opens the session that the configuration was loaded for. */
  openSession(options: { observe: (event: RunEvent) => void; hooks: boolean }): Promise<Session>;
  /** Ends drivers, the store and the log, then gives the state folder up. */
  close(): Promise<void>;
  /** For a process that goes now: ends at once what drivers have started, and writes the log out. */
  abandon(): Promise<void>;
}

export interface OpenRuntimeOptions extends OpenBareOptions {
  configuration: Configuration;
}

/** Takes the state folder and opens what every front door needs; see `openBare` for what is refused. */
export async function openRuntime(options: OpenRuntimeOptions): Promise<Runtime> {
  const { controlDir, configuration, host } = options;
  const bare = await openBare(options);
  const { store, audit } = bare;
  for (const { layer, file, findings } of configuration.skipped) {
    audit.emit("layer_skipped", null, { layer, file, findings });
  }
  const model = createModel(configuration.model, {
    controlDir,
    clock: host.clock,
    env: process.env,
    ids: host.ids,
  });
  const execution = await openCommands(options, audit);
  const composing = await openComposing(options, audit);

  return {
    store,
    audit,
    openSession({ observe, hooks }) {
      const own = { agent: configuration.agent, sid: configuration.sid };
      const registry = hooks ? hookRegistry(configuration.hooks) : NO_HOOKS;
      return openSession({
        owner: bare.owner,
        leaseMs: bare.leaseMs,
        settings: configuration.session,
        ports: { store, clock: host.clock, audit, model, observe, fault: host.fault },
        hooks: (deliver) =>
          createDispatcher(registry, {
            session: `${own.agent}/${own.sid}`,
            audit,
            clock: host.clock,
            isOwnSession: (target) => isSameSession(parseSessionRef(target, own), own),
            deliver,
            exec: execution?.ports ?? null,
            switchedOff: (hook) => hook.name !== null && configuration.disabled.has(hook.name),
            observe,
          }),
        bus: (dispatcher) => hooks && composing ? composing.open(dispatcher, observe) : null,
      });
    },
    async close() {
      composing?.close();
      await model.close();
      execution?.close();
      await bare.close();
    },
    async abandon() {
      execution?.abandon();
      await model.close({ now: true });
      await audit.flush();
    },
  };
}

/** What commands of hooks need; loaded only where a hook runs one. */
async function openCommands(options: OpenRuntimeOptions, audit: Audit): Promise<Execution | undefined> {
  const { controlDir, configuration, host, talk } = options;
  const runs = ({ action }: Hook) => action.scheme === "exec" || action.scheme === "exec_capture";
  if (!configuration.hooks.some(runs)) return undefined;
  const { openExecution } = await import("./exec_ports.ts");
  return openExecution({
    surroundings: surroundings(controlDir),
    config: configuration.sandbox,
    clock: host.clock,
    ioClock: host.ioClock,
    audit,
    talk,
  });
}

interface Composing {
  open(hooks: Dispatcher, observe: (event: RunEvent) => void): SessionBus | null;
  close(): void;
}

/** What composers need; loaded only where one is declared, or where some have left something pending. */
async function openComposing(options: OpenRuntimeOptions, audit: Audit): Promise<Composing | undefined> {
  const { controlDir, configuration, host, talk } = options;
  const { composers, agent, sid } = configuration;
  if (composers.length === 0 && !existsSync(pendingPath(controlDir, { agent, sid }))) return undefined;
  const { openSessionComposers, runtimeTimers } = await import("./session_composers.ts");
  const timers = runtimeTimers(host.clock, talk);
  return {
    open: (hooks, observe) =>
      openSessionComposers({
        controlDir,
        own: { agent, sid },
        composers,
        timers,
        ioClock: host.ioClock,
        audit,
        hooks,
        observe,
        talk,
        fault: host.fault,
      }),
    close: () => timers.close(),
  };
}
