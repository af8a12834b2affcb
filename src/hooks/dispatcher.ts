import { isReynError } from "../errors/reyn_error.ts";
import type { Hook } from "./hook.ts";
import type { Audit } from "../audit/audit.ts";
import type { AuditType } from "../audit/events.ts";
import { createDeliveries } from "./deliveries.ts";
import { createLane } from "./lane.ts";
import { planHooks } from "./plan.ts";
import type { DispatcherPorts, Firing, HookEvent } from "./ports.ts";
import { type DispatchOutcome, type HookPush, NOTHING } from "./push.ts";
import { type RateLimiter, rateLimiter } from "./rate_limiter.ts";
import type { HookRegistry } from "./registry.ts";
import { isFailure, runHook, type RunResult, shownError } from "./run_hook.ts";
import type { Verdict } from "./verdict.ts";

export interface Dispatcher {
  /** False: nothing is declared here, and `dispatch` would do nothing. */
  has(key: string): boolean;
  /** Runs the hooks of a point in order, each isolated. Settles when all that is awaited is done. */
  dispatch(firing: Firing): Promise<DispatchOutcome>;
  /**
   * Runs the hooks of an event that nobody waits for in the background lane, however full it is: wait for `room` first.
   * What they push is delivered. Settles when all of them have; false: something could not be delivered.
   */
  dispatchBehind(firing: Firing): Promise<boolean>;
  /** Undefined where the lane has room; else resolves when it has. */
  room(): Promise<void> | undefined;
  /** Tells, besides everybody else, also these of the firing with that id; the function ends it. */
  watch(firing: string, told: FiringWatcher): () => void;
  /** True while hooks run in the background lane. */
  readonly busy: boolean;
  drained(): Promise<void>;
}

/** Who wants to know what becomes of one firing. */
export interface FiringWatcher {
  /** Told of each audit event of its hooks. */
  record(type: AuditType, data: Readonly<Record<string, unknown>>): void;
  /** Told of each push and failure. */
  observe(event: HookEvent): void;
}

const DONE: Promise<DispatchOutcome> = Promise.resolve(NOTHING);

export function createDispatcher(registry: HookRegistry, shared: DispatcherPorts): Dispatcher {
  const lane = createLane();
  const deliveries = createDeliveries();
  const off = new Set(registry.all.filter(shared.switchedOff));
  const watched = new Map<string, DispatcherPorts>();
  const portsOf = ({ id }: Firing): DispatcherPorts =>
    watched.size === 0 ? shared : watched.get(id) ?? shared;
  const limiters = new Map<Hook, RateLimiter>();
  for (const hook of registry.all) if (hook.rateLimit) limiters.set(hook, rateLimiter(hook.rateLimit));

  /** Only what has to be waited for is a promise. */
  const run = (hook: Hook, firing: Firing): RunResult | Promise<RunResult> => {
    const result = runHook(hook, firing, portsOf(firing));
    return result instanceof Promise
      ? result.then((late) => recorded(hook, firing, late))
      : recorded(hook, firing, result);
  };

  const recorded = (hook: Hook, firing: Firing, result: RunResult): RunResult => {
    const ports = portsOf(firing);
    switch (result.verdict) {
      case "pushed":
        ports.audit.emit("hook_push_fired", ports.session, {
          hook_name: hook.name,
          layer: hook.layer,
          point: firing.key,
          wake: result.push.wake,
          target_session: result.push.target ?? ports.session,
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
        ports.observe?.({ type: "hook_failed", hook, code: result.code, error: shownError(result) });
        break;
      case "refused":
        ports.observe?.({ type: "hook_refused", hook, reason: result.reason, error: result.error });
        break;
      case "ran":
      case "withheld":
        break;
    }
    return result;
  };

  /** False when the hook has used up its rate; the first refusal of an episode is recorded. */
  const admitted = (hook: Hook, firing: Firing): boolean => {
    const answer = limiters.get(hook)?.admit(shared.clock.now());
    if (!answer || answer.admitted) return true;
    if (answer.first) {
      const ports = portsOf(firing);
      ports.audit.emit("hook_skipped", ports.session, {
        hook: hook.label,
        point: firing.key,
        reason: "rate_limited",
      });
      ports.observe?.({ type: "rate_limited", hook });
    }
    return false;
  };

  /** What a hook in the lane has come to goes into the inbox; false: it could not be put there. */
  const delivered = async (hook: Hook, firing: Firing, result: RunResult): Promise<boolean> => {
    try {
      await shared.deliver(outcomeOf(result, hook));
      return true;
    } catch (error) {
      recorded(hook, firing, {
        verdict: "failed",
        code: isReynError(error) ? error.code : "E_INTERNAL",
        error: error instanceof Error ? error.message : String(error),
      });
      return false;
    }
  };

  const skipped = (hook: Hook, firing: Firing, why: "overlap" | "full"): Verdict => {
    const reason = why === "full" ? "lane_full" : "overlap";
    portsOf(firing).audit.emit("hook_skipped", shared.session, {
      hook: hook.label,
      point: firing.key,
      reason,
    });
    return "overlap";
  };

  const runInLane = (hook: Hook, firing: Firing): Verdict => {
    const added = lane.add(hook, async () => {
      const result = await run(hook, firing);
      shared.audit.emit("hooks_evaluated", shared.session, {
        point: firing.key,
        verdicts: { [hook.label]: result.verdict },
      });
      await delivered(hook, firing, result);
    });
    return added === "queued" ? "queued" : skipped(hook, firing, added);
  };

  const dispatchBehind = (hooks: readonly Hook[], firing: Firing): Promise<boolean> => {
    const verdicts = planHooks(hooks, firing.payload, off);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    let left = 1;
    let sound = true;
    const settled = () => {
      if (--left > 0) return;
      portsOf(firing).audit.emit(
        "hooks_evaluated",
        shared.session,
        () => verdictsOf(firing, hooks, verdicts),
      );
      resolve(sound);
    };
    for (let index = 0; index < hooks.length; index++) {
      if (verdicts[index] !== "run") continue;
      const hook = hooks[index] as Hook;
      if (!admitted(hook, firing)) {
        verdicts[index] = "rate_limited";
        continue;
      }
      const added = lane.add(hook, async () => {
        const started = run(hook, firing);
        const result = started instanceof Promise ? await started : started;
        verdicts[index] = result.verdict;
        if (outcomeOf(result, hook) === NOTHING) return settled();
        // The next hook need not wait for the disk; what comes meanwhile goes along with it.
        void deliveries.track(delivered(hook, firing, result)).then((put) => {
          sound &&= put;
          settled();
        });
      }, true);
      if (added === "queued") left += 1;
      else verdicts[index] = skipped(hook, firing, added);
    }
    settled();
    return promise;
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
        const started = run(hook, firing);
        const result = started instanceof Promise ? await started : started;
        verdicts[index] = result.verdict;
        if (result.verdict === "pushed") (pushes ??= []).push(result.push);
        if (isFailure(result) && hook.onError === "suspend") suspendedBy ??= hook.label;
      }
    }
    portsOf(firing).audit.emit(
      "hooks_evaluated",
      shared.session,
      () => verdictsOf(firing, hooks, verdicts),
    );
    return pushes || suspendedBy !== null ? { pushes: pushes ?? [], suspendedBy } : NOTHING;
  };

  return {
    has: (key) => registry.at(key) !== undefined,
    dispatch(firing) {
      const hooks = registry.at(firing.key);
      return hooks === undefined ? DONE : dispatchTo(hooks, firing);
    },
    dispatchBehind(firing) {
      const hooks = registry.at(firing.key);
      return hooks === undefined ? Promise.resolve(true) : dispatchBehind(hooks, firing);
    },
    watch(firing, told) {
      watched.set(firing, tellingToo(shared, told));
      return () => void watched.delete(firing);
    },
    room: () => lane.room() ?? deliveries.room(),
    get busy() {
      return lane.busy || deliveries.busy;
    },
    async drained() {
      while (lane.busy || deliveries.busy) {
        await lane.drained();
        await deliveries.drained();
      }
    },
  };
}

/** The same ports, of which whoever watches is told as well. */
function tellingToo(ports: DispatcherPorts, told: FiringWatcher): DispatcherPorts {
  const audit: Audit = {
    ...ports.audit,
    emit(type, session, data) {
      const built = typeof data === "function" ? data() : data;
      told.record(type, built as unknown as Record<string, unknown>);
      ports.audit.emit(type, session, built);
    },
  };
  return {
    ...ports,
    audit,
    exec: ports.exec && { ...ports.exec, audit },
    observe(event) {
      told.observe(event);
      ports.observe?.(event);
    },
  };
}

function outcomeOf(result: RunResult, hook: Hook): DispatchOutcome {
  const pushes = result.verdict === "pushed" ? [result.push] : [];
  const suspendedBy = isFailure(result) && hook.onError === "suspend" ? hook.label : null;
  return pushes.length > 0 || suspendedBy !== null ? { pushes, suspendedBy } : NOTHING;
}

function verdictsOf(firing: Firing, hooks: readonly Hook[], verdicts: readonly Verdict[]) {
  const named = hooks.map((hook, index) => [hook.label, verdicts[index] ?? "run"] as const);
  return { point: firing.key, verdicts: Object.fromEntries(named) };
}
