/** What `reyn/hooks` exports. */
export {
  type ContextClass,
  type ContextFields,
  InputReceived,
  PhaseChanged,
  SessionSpawn,
  SessionSpawned,
  WaitingForInput,
  WorkItemComplete,
  WorkItemStart,
} from "../contexts.ts";
export type { DecisionContext, DecisionPoint, Decisions, Facts } from "../decision_shapes.ts";
export { DECISION_POINTS as POINTS } from "../decisions.ts";
export { type Answer, LifecycleHooks } from "../lifecycle_hooks.ts";
export { type WorkItem, workItem } from "../work_item.ts";
export { handleRequest, type RequestOptions, RPC_ERRORS } from "./handle_request.ts";
export { HookServer, type HookServerOptions } from "./hook_server.ts";
