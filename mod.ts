/**
 * The embedding API: load a configuration, open a runtime on a control folder, and run a session in this process.
 *
 * @module
 */
export {
  type Configuration,
  loadForSession,
  type LoadOptions,
  requireUsable,
} from "./src/runtime/configuration.ts";
export { openRuntime, type OpenRuntimeOptions, type Runtime } from "./src/runtime/open_runtime.ts";
export type { RuntimeHost } from "./src/runtime/open_bare.ts";
export type { RunEvent } from "./src/runtime/run_event.ts";
export type { Session } from "./src/session/session.ts";
export { humanMessage } from "./src/session/messages.ts";
export { type Clock, systemClock } from "./src/clock/clock.ts";
export { type Ids, randomIds } from "./src/clock/ids.ts";
export { ReynError } from "./src/errors/reyn_error.ts";
export { type ReactionPayloads, type ReactionPoint, REACTIONS } from "./src/points/reactions.ts";
export type {
  PluginAnswer,
  PluginDirective,
  PluginEmit,
  PluginEvent,
  PluginHttpRequest,
  PluginQuestion,
} from "./src/points/plugin_contract.ts";
export { DECISIONS } from "./src/points/decisions.ts";
export { decisionSetup, oneShotDecisions } from "./src/runtime/decisions.ts";
export { type DecisionHooks, decisionHooks } from "./src/decisions/decision_hooks.ts";
export { loadDecisions, type LoadedDecisions } from "./src/decisions/load_decisions.ts";
export { HooksConfigError } from "./src/decisions/config_error.ts";
export * from "./src/points/sdk/mod.ts";
