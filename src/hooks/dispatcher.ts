import type { Audit } from "../audit/audit.ts";
import type { Clock } from "../clock/clock.ts";
import type { ErrorCode } from "../errors/catalogue.ts";
import { quote } from "../errors/quote.ts";
import type { Hook } from "./hook.ts";
import { createLane } from "./lane.ts";
import { planHooks } from "./plan.ts";
import { type DispatchOutcome, type HookPush, NOTHING } from "./push.ts";
import { type RateLimiter, rateLimiter } from "./rate_limiter.ts";
import type { HookRegistry } from "./registry.ts";
import { renderPush } from "./template_push.ts";
import type { Verdict } from "./verdict.ts";

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
  /** True for the session that the text names. */
  isOwnSession(target: string): boolean;
  /** Takes what hooks in the background lane push. */
  deliver(outcome: DispatchOutcome): Promise<void>;
  /** Whether this session has switched the hook off. */
  switchedOff(hook: Hook): boolean;
  /** Told of each push and failure, for a person who watches. */
  observe?: (event: HookEvent) => void;
}

export type HookEvent =
  | { type: "push"; hook: Hook; push: HookPush }
  | { type: "hook_failed"; hook: Hook; code: ErrorCode; error: string }
  | { type: "rate_limited"; hook: Hook };

export interface Dispatcher {
  /** False: nothing is declared here, and `dispatch` would do nothing. */
  has(key: string): boolean;
  /** Runs the hooks of a point in order, each isolated. Settles when all that is awaited is done. */
  dispatch(firing: Firing): Promise<DispatchOutcome>;
  /** True while hooks run in the background lane. */
  readonly busy: boolean;
  drained(): Promise<void>;
}

type RunResult =
  | { verdict: "pushed"; push: HookPush }
  | { verdict: "withheld" }
  | Failure;

interface Failure {
  verdict: "failed";
  code: ErrorCode;
  /** For the log: holds nothing of the payload. */
  error: string;
  /** What a field came to, for a person who watches. */
  rendered?: string;
}

const DONE: Promise<DispatchOutcome> = Promise.resolve(NOTHING);

export function createDispatcher(registry: HookRegistry, ports: DispatcherPorts): Dispatcher {
  const lane = createLane();
  const off = new Set(registry.all.filter(ports.switchedOff));
  const limiters = new Map<Hook, RateLimiter>();
  for (const hook of registry.all) if (hook.rateLimit) limiters.set(hook, rateLimiter(hook.rateLimit));

  const run = (hook: Hook, firing: Firing): RunResult => {
    const result = runIsolated(hook, firing, ports);
    switch (result.verdict) {
      case "pushed":
        ports.audit.emit("hook_push_fired", ports.session, {
          hook_name: hook.name,
          layer: hook.layer,
          point: firing.key,
          wake: result.push.wake,
          target_session: ports.session,
        });
        ports.observe?.({ type: "push", hook, push: result.push });
        break;
      case "failed":
        ports.audit.emit("hook_failed", ports.session, {
          hook: hook.label,
          point: firing.key,
          code: result.code,
          error: result.error,
        });
        ports.observe?.({ type: "hook_failed", hook, code: result.code, error: watched(result) });
        break;
      case "withheld":
        break;
    }
    return result;
  };

  /** False when the hook has used up its rate; the first refusal of an episode is recorded. */
  const admitted = (hook: Hook, firing: Firing): boolean => {
    const answer = limiters.get(hook)?.admit(ports.clock.now());
    if (!answer || answer.admitted) return true;
    if (answer.first) {
      ports.audit.emit("hook_skipped", ports.session, {
        hook: hook.label,
        point: firing.key,
        reason: "rate_limited",
      });
      ports.observe?.({ type: "rate_limited", hook });
    }
    return false;
  };

  const runInLane = (hook: Hook, firing: Firing): Verdict => {
    const added = lane.add(hook, () => {
      const result = run(hook, firing);
      return ports.deliver(outcomeOf(result, hook));
    });
    if (added === "queued") return "queued";
    ports.audit.emit("hook_skipped", ports.session, {
      hook: hook.label,
      point: firing.key,
      reason: added === "full" ? "lane_full" : "overlap",
    });
    return "overlap";
  };

  const dispatchTo = async (hooks: readonly Hook[], firing: Firing): Promise<DispatchOutcome> => {
    const verdicts = planHooks(hooks, firing.payload, off);
    let pushes: HookPush[] | undefined;
    let suspendedBy: string | null = null;
    for (let index = 0; index < hooks.length; index++) {
      if (verdicts[index] !== "run") continue;
      const hook = hooks[index] as Hook;
      if (!admitted(hook, firing)) {
        verdicts[index] = "rate_limited";
      } else if (!hook.awaited) {
        verdicts[index] = runInLane(hook, firing);
      } else {
        const result = run(hook, firing);
        verdicts[index] = result.verdict;
        if (result.verdict === "pushed") (pushes ??= []).push(result.push);
        if (result.verdict === "failed" && hook.onError === "suspend") suspendedBy ??= hook.label;
      }
    }
    ports.audit.emit("hooks_evaluated", ports.session, () => ({
      point: firing.key,
      verdicts: Object.fromEntries(hooks.map((hook, index) => [hook.label, verdicts[index] ?? "run"])),
    }));
    return pushes || suspendedBy !== null ? { pushes: pushes ?? [], suspendedBy } : NOTHING;
  };

  return {
    has: (key) => registry.at(key) !== undefined,
    dispatch(firing) {
      const hooks = registry.at(firing.key);
      return hooks === undefined ? DONE : dispatchTo(hooks, firing);
    },
    get busy() {
      return lane.busy;
    },
    drained: () => lane.drained(),
  };
}

function outcomeOf(result: RunResult, hook: Hook): DispatchOutcome {
  return {
    pushes: result.verdict === "pushed" ? [result.push] : [],
    suspendedBy: result.verdict === "failed" && hook.onError === "suspend" ? hook.label : null,
  };
}

function watched({ error, rendered }: Failure): string {
  return rendered === undefined ? error : `${error}: ${quote(rendered)}`;
}

/** Whatever a hook throws is that hook's failure alone. */
function runIsolated(hook: Hook, firing: Firing, ports: DispatcherPorts): RunResult {
  try {
    return runScheme(hook, firing, ports);
  } catch (error) {
    return {
      verdict: "failed",
      code: "E_INTERNAL",
      error: error instanceof Error ? error.message : String(error),
    };
  }
}

function runScheme(hook: Hook, firing: Firing, ports: DispatcherPorts): RunResult {
  const { action } = hook;
  switch (action.scheme) {
    case "template_push": {
      const result = renderPush(action.push, firing.payload);
      if (result.status === "withheld") return { verdict: "withheld" };
      if (result.status === "failed") {
        const { field, error, status: _status, ...rest } = result;
        return { verdict: "failed", code: "E_HOOK_TEMPLATE", error: `${field}: ${error}`, ...rest };
      }
      if (result.session !== null && !ports.isOwnSession(result.session)) {
        const error = "session: renders to another session, and pushing there does not exist yet";
        return { verdict: "failed", code: "E_HOOK_SESSION", error, rendered: result.session };
      }
      const push: HookPush = {
        id: `${firing.id}/${hook.layer}:${hook.name ?? `#${hook.index}`}`,
        hook: hook.attribution,
        text: result.text,
        wake: result.wake,
        chainId: firing.chainId,
      };
      return { verdict: "pushed", push };
    }
    case "exec":
    case "exec_capture":
    case "pipeline_launch":
      return { verdict: "failed", code: "E_HOOK_NOT_YET", error: `${action.scheme} does not run yet` };
  }
}
