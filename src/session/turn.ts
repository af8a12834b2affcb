import { type DispatchOutcome, type HookPush, NOTHING } from "../hooks/push.ts";
import type { TurnStatus } from "../points/reactions.ts";
import type { InboxRow, Op } from "../store/store.ts";
import type { SessionContext } from "./context.ts";
import { firePoint, hasListeners } from "./fire_point.ts";
import { attributed, chainOf, type HistoryMessage, historyMessage, hookMessage, hopsOf } from "./messages.ts";
import type { PlannedTurn } from "./plan_turn.ts";
import type { CurrentTurn, SessionRecord } from "./state.ts";
import { currentTurn, runSteps, showStep, type TurnOutcome } from "./step.ts";
import { valveEffect } from "./valve.ts";

/** Starts the planned turn and sees it to its end. Answers `false` when its messages were already gone. */
export async function runTurn(context: SessionContext, plan: PlannedTurn): Promise<boolean> {
  const { journal, ports, settings } = context;
  const turn = journal.state.turns + 1;
  const rows = [...plan.context, plan.trigger, ...plan.alongside];
  const started = {
    t: "turn_started" as const,
    at: ports.clock.now(),
    turn,
    kind: plan.kind,
    chain: chainOf(plan.trigger),
    valve: valveEffect(plan.kind, plan.driven, settings.resetOn),
    messages: rows.map((row) => historyMessage(row, turn)),
    about: plan.context.length,
    ...hopsRecord(plan.kind, rows),
  } satisfies SessionRecord;
  const consume: Op = { op: "consume", ids: rows.map((row) => row.id) };
  // A turn that resets the valve leaves nothing to ask.
  const moot = started.valve === "reset" ? journal.state.valve.question : null;
  ports.fault("turn:before_consume");
  const committed = await journal.commit(
    [started],
    moot ? [consume, { op: "settle", question: moot }] : [consume],
  );
  if (committed === "duplicate") return false;
  if (moot) {
    const closed = { question: moot, kind: "valve", reason: "withdrawn" };
    ports.audit.emit("intervention_closed", context.id, closed);
    ports.interventions?.settled(moot);
  }
  ports.fault("turn:after_consume");
  await startTurn(context, "new", started.messages);
  return true;
}

/** Takes up an interrupted turn's message again, as a turn of its own, with what rides along. */
export async function retryTurn(context: SessionContext, riding: readonly InboxRow[]): Promise<boolean> {
  const { journal, ports } = context;
  const turn = journal.state.turns + 1;
  const messages = riding.map((row) => historyMessage(row, turn));
  const of = journal.state.retry?.turn ?? 0;
  const record: SessionRecord = { t: "turn_retried", at: ports.clock.now(), turn, of, messages };
  const consume: Op[] = riding.length > 0 ? [{ op: "consume", ids: riding.map((row) => row.id) }] : [];
  const committed = await journal.commit([record], consume);
  if (committed === "duplicate") return false;
  ports.fault("turn:after_retry");
  await startTurn(context, "retried", messages);
  return true;
}

/**
 * Goes on with a turn that a crash interrupted: journaled steps do not repeat, and turn_start does not fire again, unless the
 * crash came before its hooks were done.
 */
export async function resumeTurn(context: SessionContext): Promise<void> {
  announce(context, "resumed", []);
  const { announced, steps } = currentTurn(context);
  if (!announced && steps === 0) await fireTurnStart(context);
  await finishTurn(context);
}

/** Ends a turn that a crash interrupted without asking the model again. */
export async function abandonTurn(context: SessionContext): Promise<void> {
  announce(context, "resumed", []);
  await endTurn(context, { status: "interrupted" });
}

async function startTurn(
  context: SessionContext,
  origin: "new" | "retried",
  messages: readonly HistoryMessage[],
): Promise<void> {
  announce(context, origin, messages);
  await fireTurnStart(context);
  await finishTurn(context);
}

async function finishTurn(context: SessionContext): Promise<void> {
  const outcome = await runSteps(context);
  await endTurn(context, outcome);
}

function announce(
  context: SessionContext,
  origin: "new" | "resumed" | "retried",
  messages: readonly HistoryMessage[],
): void {
  const { ports, journal } = context;
  const current = currentTurn(context);
  ports.audit.emit("turn_started", context.id, {
    kind: current.kind,
    chain_id: current.chain,
    seq: current.turn,
    hook_driven_turns: journal.state.valve.count,
    resumed: origin === "resumed",
  });
  ports.observe({
    type: "turn_started",
    turn: current.turn,
    kind: current.kind,
    hookDrivenTurns: journal.state.valve.count,
    origin,
    messages,
  });
}

async function fireTurnStart(context: SessionContext): Promise<void> {
  const { ports, journal, settings } = context;
  if (!hasListeners(context, "turn_start")) return;
  const current = currentTurn(context);
  const outcome = await firePoint(context, "turn_start", {
    id: `${context.id}/${current.turn}/turn_start`,
    chainId: current.chain,
    payload: {
      point: "turn_start",
      agent_name: settings.agent,
      kind: current.kind,
      chain_id: current.chain,
      hook_driven_turns: journal.state.valve.count,
    },
  });
  ports.fault("turn:after_turn_start_hooks");
  const inThisTurn = (push: HookPush) => !push.wake && push.target === null;
  const added = outcome.pushes.filter(inThisTurn).map((push): HistoryMessage => ({
    id: push.id,
    role: "system",
    text: attributed(push),
    hook: push.hook,
    turn: current.turn,
  }));
  const done: SessionRecord = { t: "context", turn: current.turn, messages: added };
  await journal.commit(
    [done, ...suspension(context, outcome)],
    puts(context, outcome.pushes.filter((push) => !inThisTurn(push))),
  );
  if (added.length > 0) ports.observe({ type: "context_added", turn: current.turn, messages: added });
  ports.fault("turn:after_context");
}

async function endTurn(context: SessionContext, outcome: TurnOutcome): Promise<void> {
  const { ports, journal, settings } = context;
  const current = currentTurn(context);
  const { status, error, last } = outcome;
  ports.audit.emit("turn_completed", context.id, {
    chain_id: current.chain,
    seq: current.turn,
    status,
    ...(error ? { error: error.code } : {}),
  });
  const fired = await fireTurnEnd(context, current, status);
  ports.fault("turn:after_turn_end_hooks");
  const retry = status === "interrupted" && settings.resume === "retry";
  const records: SessionRecord[] = [
    ...(last ? [last] : []),
    ...suspension(context, fired),
    {
      t: "turn_ended",
      at: ports.clock.now(),
      turn: current.turn,
      status,
      ...(error ? { error: `${error.code} ${error.message}` } : {}),
      retry,
    },
  ];
  await journal.commit(records, puts(context, fired.pushes));
  ports.fault("turn:after_end");
  if (last) showStep(context, last);
  ports.audit.emit("turn_settled", context.id, {
    kind: current.kind,
    chain_id: current.chain,
    seq: current.turn,
  });
  ports.observe({ type: "turn_ended", turn: current.turn, status, ...(error ? { error } : {}) });
}

async function fireTurnEnd(
  context: SessionContext,
  current: CurrentTurn,
  status: TurnStatus,
): Promise<DispatchOutcome> {
  const { journal, settings } = context;
  if (!hasListeners(context, "turn_end")) return NOTHING;
  return await firePoint(context, "turn_end", {
    id: `${context.id}/${current.turn}/turn_end`,
    chainId: current.chain,
    payload: {
      point: "turn_end",
      agent_name: settings.agent,
      chain_id: current.chain,
      user_text: current.userText,
      status,
      hook_driven_turns: journal.state.valve.count,
    },
  });
}

/** More sessions than this, one after the other, and a push goes no further. */
const MOST_HOPS = 16;

/** What a turn passes on of the way that its messages came; a person's begins anew. */
function hopsRecord(kind: string, rows: readonly InboxRow[]): { hops?: number } {
  const hops = kind === "user" ? 0 : Math.max(0, ...rows.map(hopsOf));
  return hops > 0 ? { hops } : {};
}

export function puts(context: SessionContext, pushes: readonly HookPush[]): Op[] {
  const { hops } = context.journal.state;
  return pushes.flatMap((push): Op[] => {
    if (push.target === null) return [{ op: "put", session: context.id, message: hookMessage(push, hops) }];
    if (hops < MOST_HOPS) return [{ op: "put", session: push.target, message: hookMessage(push, hops + 1) }];
    const reason = `${MOST_HOPS} sessions have passed it on`;
    context.ports.audit.emit("inbox_refused", push.target, { kind: "hook", reason });
    context.ports.observe({ type: "inbox_refused", kind: "hook", reason: `${push.target}: ${reason}` });
    return [];
  });
}

export function suspension(context: SessionContext, outcome: DispatchOutcome): SessionRecord[] {
  if (outcome.suspendedBy === null || context.journal.state.suspended !== null) return [];
  return [{ t: "suspended", at: context.ports.clock.now(), hook: outcome.suspendedBy }];
}
