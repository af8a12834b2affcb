import type { Audit } from "../audit/audit.ts";
import type { Clock } from "../clock/clock.ts";
import type { Ids } from "../clock/ids.ts";
import { copyContext } from "../points/contexts.ts";
import type { DecisionContext, DecisionPoint, Decisions } from "../points/decision_shapes.ts";
import { decisionFields, isProceedPoint } from "../points/decisions.ts";
import { ask } from "./ask.ts";
import type { Executor } from "./executor.ts";

/** One decision hook as a chain asks it. */
export interface ChainHook {
  name: string;
  executor: Executor;
  /** At a point that can be refused, a failure refuses, and a refusal is final. */
  required: boolean;
  /** `observe`: asked and recorded, nothing applied. */
  mode: "enforce" | "observe";
  timeoutMs: number;
  /** Whether it is asked about this; judged by facts only. */
  matches(context: Readonly<Record<string, unknown>>): boolean;
}

/** What became of one hook of a chain. */
export interface AskedHook {
  hook: string;
  /** The decisions that its answer names. */
  answer?: Readonly<Record<string, unknown>>;
  /** Decisions that it changed, or would have changed. */
  changed: readonly string[];
  /** Of these, the ones that did not count: a required hook had refused. */
  overruled?: readonly string[];
  error?: string;
  /** It was not asked: `match` says that it is not concerned. */
  skipped?: "no_match";
  mode: "enforce" | "observe";
  duration_ms: number;
}

/** What a chain came to. */
export interface Decided<P extends DecisionPoint> {
  decisions: Decisions<P>;
  /** The hook by which the step is refused; null when it goes on. */
  refusedBy: string | null;
  /** Null when no hook is at the point. */
  id: string | null;
  asked: readonly AskedHook[];
}

export interface ChainOptions {
  audit: Audit;
  clock: Clock;
  ids: Ids;
  /** Of the whole chain, hooks that were not asked by then fail. */
  chainTimeoutMs: number;
  /** Of the decision; the same when it is asked anew after a redelivery. Default: a fresh one. */
  id?: string | undefined;
}

type Values = Record<string, unknown>;

/** Asks the hooks of one point one after the other; each sees what the earlier ones decided. Never throws. */
export async function runChain<P extends DecisionPoint>(
  chain: readonly ChainHook[],
  point: P,
  facts: DecisionContext<P>,
  options: ChainOptions,
): Promise<Decided<P>> {
  const { audit, clock, chainTimeoutMs } = options;
  const context = copyContext(point, facts);
  const values: Values = context as Values;
  const names: readonly string[] = decisionFields(point).map(({ name }) => name);
  const refusable = isProceedPoint(point);
  const id = options.id ?? options.ids.next();
  const work_item = context.work_item.ref || null;
  const started = clock.monotonic();
  const asked: AskedHook[] = [];
  let refusedBy: string | null = null;
  let final = false;

  for (const { name: hook, executor, required, mode, timeoutMs, matches } of chain) {
    if (!matches(values)) {
      asked.push({ hook, changed: [], skipped: "no_match", mode, duration_ms: 0 });
      continue;
    }
    const begun = clock.monotonic();
    const leftMs = started + chainTimeoutMs - begun;
    const limitMs = Math.min(timeoutMs, leftMs);
    const answered = leftMs >= SHORTEST_MS
      ? await ask(executor, { point, context: copyContext(point, context), id, limitMs }, clock)
      : TOO_LATE;
    const duration_ms = rounded(clock.monotonic() - begun);
    const record = { point, hook, work_item, decision_id: id, duration_ms };
    if (!answered.ok) audit.emit("hooks.failed", null, { ...record, error: answered.error, required, mode });

    const enforced = mode === "enforce";
    const answer = answered.ok
      ? answered.decisions as Values
      : required && refusable && enforced
      ? { proceed: false, reason: `the required hook ${hook} failed` }
      : NOTHING;
    const changed = names.filter((name) => answer[name] !== undefined && answer[name] !== values[name]);
    const overruled: readonly string[] = final
      ? changed.filter((name) => name === "proceed" || name === "reason")
      : [];
    if (enforced) {
      for (const name of changed) if (!overruled.includes(name)) values[name] = answer[name];
      if (answer["proceed"] === false && !final) {
        if (changed.includes("proceed") || required) refusedBy = hook;
        final = required;
      }
    }
    const told = overruled.length > 0 ? { changed, overruled: [...overruled] } : { changed };
    if (changed.length > 0) audit.emit("hooks.decided", null, { ...record, ...told, mode });
    const outcome = answered.ok ? { answer: answered.decisions as Values } : { error: answered.error };
    asked.push({ hook, ...told, ...outcome, mode, duration_ms });
  }

  if (!refusable || values["proceed"] !== false) refusedBy = null;
  if (refusedBy !== null) {
    const duration_ms = rounded(clock.monotonic() - started);
    const reason = (values["reason"] as string) || null;
    audit.emit("hooks.refused", null, {
      point,
      hook: refusedBy,
      work_item,
      decision_id: id,
      duration_ms,
      reason,
    });
  }
  return { decisions: decisionsOf(point, context), refusedBy, id, asked };
}

/** Timers may fire this much too early: what is left of the chain's time is less than they can tell. */
const SHORTEST_MS = 1;
const NOTHING: Values = {};
const TOO_LATE = { ok: false, error: "TimeoutError: the time of the whole chain was over" } as const;

/** The decisions of a context, without its facts. */
export function decisionsOf<P extends DecisionPoint>(point: P, context: DecisionContext<P>): Decisions<P> {
  const values: Values = context as Values;
  return Object.fromEntries(decisionFields(point).map(({ name }) => [name, values[name]])) as Decisions<P>;
}

function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
