import { isReynError } from "../errors/reyn_error.ts";
import type { ModelMessage, ToolCall } from "../model/model.ts";
import type { TurnStatus } from "../points/reactions.ts";
import type { SessionContext } from "./context.ts";
import type { HistoryMessage } from "./messages.ts";
import type { CurrentTurn, SessionRecord } from "./state.ts";

/** Model steps of one turn; a model that still calls tools then has its turn ended as failed. */
const MOST_STEPS = 50;
/** UTF-16 units of one reply; beyond it the step fails. */
const LONGEST_REPLY = 8 * 1024 * 1024;

type StepRecord = Extract<SessionRecord, { t: "step" }>;
type Problem = { code: string; message: string };

export interface TurnOutcome {
  status: TurnStatus;
  error?: Problem;
  /** The last step, where it is to be journaled with the turn's end. */
  last?: StepRecord;
}

export function currentTurn(context: SessionContext): CurrentTurn {
  const { current } = context.journal.state;
  if (!current) throw new Error("no turn is running");
  return current;
}

/** Asks the model until it has no more to do. Each step is journaled before the next is asked. */
export async function runSteps(context: SessionContext): Promise<TurnOutcome> {
  const { journal, ports, stopping } = context;
  for (;;) {
    const { steps, turn } = currentTurn(context);
    if (steps > 0 && journal.state.history.at(-1)?.role === "assistant") return { status: "ok" };
    if (stopping.aborted) return { status: "interrupted" };
    if (steps >= MOST_STEPS) {
      return {
        status: "error",
        error: { code: "E_MODEL_OUTPUT", message: `the turn took ${MOST_STEPS} model steps` },
      };
    }
    ports.fault("turn:before_step");
    const answer = await ask(context, turn, steps + 1);
    if (answer.status !== "ok") return answer;
    ports.fault("turn:after_model");
    const record = stepRecord(context, turn, steps + 1, answer);
    // Without turn_end hooks nothing happens between the last step and the end of its turn: one commit does for both.
    if (answer.calls.length === 0 && !ports.hooks.has("turn_end")) return { status: "ok", last: record };
    await journal.commit([record]);
    showStep(context, record);
    ports.fault("turn:after_step");
  }
}

type Answer = { status: "ok"; text: string; calls: ToolCall[] } | { status: "error"; error: Problem } | {
  status: "interrupted";
};

/** One model step, timed and recorded. */
async function ask(context: SessionContext, turn: number, step: number): Promise<Answer> {
  const { ports } = context;
  const startedAt = ports.clock.monotonic();
  const answer = await collect(context, turn, step);
  ports.audit.emit("model_step", context.id, {
    turn,
    step,
    duration_ms: Math.round(ports.clock.monotonic() - startedAt),
    outcome: answer.status,
  });
  return answer;
}

async function collect(context: SessionContext, turn: number, step: number): Promise<Answer> {
  const { ports, journal, settings, stopping } = context;
  let text = "";
  const calls: ToolCall[] = [];
  try {
    const request = {
      session: context.id,
      agent: settings.agent,
      turn,
      step,
      messages: (await journal.history()) as readonly ModelMessage[],
      ...(settings.instructions === undefined ? {} : { instructions: settings.instructions }),
    };
    for await (const delta of ports.model.step(request, stopping)) {
      if (delta.type === "tool_call") {
        calls.push(delta.call);
        continue;
      }
      text += delta.text;
      if (text.length > LONGEST_REPLY) {
        return {
          status: "error",
          error: { code: "E_MODEL_OUTPUT", message: "the reply is longer than a message may be" },
        };
      }
      ports.observe({ type: "reply_delta", turn, text: delta.text });
    }
  } catch (error) {
    return stopping.aborted ? { status: "interrupted" } : { status: "error", error: problemOf(error) };
  }
  // A driver may end its stream on abort instead of throwing: what came is then perhaps not the whole reply.
  return stopping.aborted ? { status: "interrupted" } : { status: "ok", text, calls };
}

/** The reply, and an answer to each tool that it calls: there are none yet. */
function stepRecord(
  context: SessionContext,
  turn: number,
  step: number,
  { text, calls }: { text: string; calls: readonly ToolCall[] },
): StepRecord {
  const id = `${context.id}/${turn}/step/${step}`;
  const base = { id, role: "assistant" as const, text, turn };
  const reply: HistoryMessage = calls.length === 0
    ? base
    : { ...base, toolCalls: calls as NonNullable<HistoryMessage["toolCalls"]> };
  const results = calls.map((call): HistoryMessage => ({
    id: `${id}/${call.id}`,
    role: "tool",
    text: `error: there is no tool "${call.name}"`,
    turn,
    toolCallId: call.id,
  }));
  return { t: "step", turn, step, messages: [reply, ...results] };
}

/** Tells those who watch of a step that is durable. */
export function showStep(context: SessionContext, { turn, step, messages }: StepRecord): void {
  for (const message of messages) {
    context.ports.observe({ type: message.role === "tool" ? "tool_result" : "reply", turn, step, message });
  }
}

function problemOf(error: unknown): Problem {
  if (isReynError(error)) return { code: error.code, message: error.message };
  return { code: "E_MODEL_FAILED", message: error instanceof Error ? error.message : String(error) };
}
