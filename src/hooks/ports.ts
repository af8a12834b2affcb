import type { Audit } from "../audit/audit.ts";
import type { Clock } from "../clock/clock.ts";
import type { ErrorCode } from "../errors/catalogue.ts";
import type { Hook } from "./hook.ts";
import type { DispatchOutcome, HookPush } from "./push.ts";
import type { ExecPorts } from "./exec_ports.ts";

/** One event at one point. */
export interface Firing {
  /** Where its hooks are kept: the point's name, or `composed:<name>`. */
  key: string;
  /** Stable over a crash: `<session>/<turn>/<point>`. */
  id: string;
  payload: Readonly<Record<string, unknown>>;
  chainId: string | null;
}

export interface DispatcherPorts {
  /** `<agent>/<sid>`. */
  session: string;
  audit: Audit;
  clock: Clock;
  /** Where a push goes whose `session:` names `target`. Only what has to be looked up is a promise. */
  route(target: string, hook: Hook): Route | Promise<Route>;
  /** Takes what hooks in the background lane push. */
  deliver(outcome: DispatchOutcome): Promise<void>;
  /** Whether this session has switched the hook off. */
  switchedOff(hook: Hook): boolean;
  /** What commands of hooks need; null: none runs. */
  exec: ExecPorts | null;
  /** Told of each push and failure, for a person who watches. */
  observe?: (event: HookEvent) => void;
}

/** `refused` says why nobody takes the push, without what the session was called: that may be text of the payload. */
export type Route =
  | { to: "own" }
  | { to: "session"; /** `<agent>/<sid>` */ id: string }
  | { to: "refused"; reason: string };

export type HookEvent =
  | { type: "push"; hook: Hook; push: HookPush }
  | { type: "hook_failed"; hook: Hook; code: ErrorCode; error: string }
  | { type: "hook_refused"; hook: Hook; reason: string; error: string }
  | { type: "rate_limited"; hook: Hook };
