import type { JsonObject } from "../store/store.ts";
import type { TurnStatus } from "../points/reactions.ts";
import type { HistoryMessage } from "./messages.ts";
import { afterTurn, OPEN_VALVE, type ValveEffect, type ValveState } from "./valve.ts";

/** The WAL of a session: state is nothing but these, applied in order. */
export type SessionRecord =
  | { t: "opened"; at: number }
  | {
    t: "turn_started";
    at: number;
    turn: number;
    kind: string;
    chain: string | null;
    valve: ValveEffect;
    /** What joins the conversation, in order. */
    messages: HistoryMessage[];
    /** Index in `messages` of the one that the turn is about. */
    about: number;
    /** Sessions that what triggered it has come through; 0 when absent. */
    hops?: number;
  }
  /** An interrupted turn's message is taken up again, by a turn of its own. */
  | { t: "turn_retried"; at: number; turn: number; of: number; messages: HistoryMessage[] }
  /**
   * The turn_start hooks are done; what they add to their own turn goes before the message that the turn is about. There is
   * no such record where no hook is at turn_start.
   */
  | { t: "context"; turn: number; messages: HistoryMessage[] }
  | { t: "step"; turn: number; step: number; messages: HistoryMessage[] }
  | { t: "turn_ended"; at: number; turn: number; status: TurnStatus; error?: string; retry: boolean }
  /** `question`: a person is asked for one more cap. */
  | { t: "valve_closed"; at: number; question?: string }
  | { t: "valve_answered"; at: number; question: string; extended: boolean }
  | { t: "suspended"; at: number; hook: string }
  | { t: "resumed"; at: number }
  /** Given up while idle by a runtime that goes on: nothing was interrupted. */
  | { t: "unloaded"; at: number; runtime: string }
  | { t: "ended"; at: number };

export interface CurrentTurn {
  turn: number;
  kind: string;
  chain: string | null;
  userText: string;
  /** Whether its turn_start hooks are known to be done. */
  announced: boolean;
  /** Steps journaled so far. */
  steps: number;
  /** Messages of this turn so far stand at the end of the history; the one it is about is this many from the end. */
  aboutFromEnd: number;
}

export interface SessionState {
  /** Opened and not ended: after a crash this is how the next open knows. */
  open: boolean;
  /** Turns started so far. */
  turns: number;
  valve: ValveState;
  current: CurrentTurn | null;
  /** An interrupted turn that the next open takes up again. */
  retry: CurrentTurn | null;
  /** The hook whose failure suspended the session. */
  suspended: string | null;
  /** Failed turns in a row. */
  errors: number;
  /** Sessions that the latest turn's trigger came through. */
  hops: number;
  /** The runtime that unloaded it. */
  unloaded: string | null;
  history: HistoryMessage[];
}

export function emptyState(): SessionState {
  return {
    open: false,
    turns: 0,
    valve: OPEN_VALVE,
    current: null,
    retry: null,
    suspended: null,
    errors: 0,
    hops: 0,
    unloaded: null,
    history: [],
  };
}

/** Applies one record in place. Message objects already in the history are never touched or replaced. */
export function apply(state: SessionState, record: SessionRecord): void {
  switch (record.t) {
    case "opened":
      state.open = true;
      state.unloaded = null;
      return;
    case "turn_started": {
      state.turns = record.turn;
      state.hops = record.hops ?? 0;
      state.valve = afterTurn(state.valve, record.valve);
      for (const message of record.messages) state.history.push(message);
      state.current = {
        turn: record.turn,
        kind: record.kind,
        chain: record.chain,
        userText: record.messages[record.about]?.text ?? "",
        announced: false,
        steps: 0,
        aboutFromEnd: record.messages.length - record.about,
      };
      return;
    }
    case "turn_retried":
      state.turns = record.turn;
      state.current = state.retry && { ...state.retry, turn: record.turn, announced: false, steps: 0 };
      state.retry = null;
      insertContext(state, record.messages);
      return;
    case "context":
      insertContext(state, record.messages);
      if (state.current) state.current.announced = true;
      return;
    case "step":
      for (const message of record.messages) state.history.push(message);
      if (state.current) {
        state.current.steps = record.step;
        state.current.aboutFromEnd += record.messages.length;
      }
      return;
    case "turn_ended":
      state.retry = record.retry ? state.current : null;
      state.current = null;
      state.errors = record.status === "error" ? state.errors + 1 : 0;
      return;
    case "valve_closed":
      state.valve = { ...state.valve, closed: true, question: record.question ?? null };
      return;
    case "valve_answered":
      if (state.valve.question !== record.question) return;
      state.valve = record.extended
        ? { ...state.valve, closed: false, question: null, extensions: state.valve.extensions + 1 }
        : { ...state.valve, question: null };
      return;
    case "suspended":
      state.suspended = record.hook;
      return;
    case "resumed":
      state.suspended = null;
      return;
    case "unloaded":
      state.unloaded = record.runtime;
      return;
    case "ended":
      state.open = false;
      return;
  }
}

function insertContext(state: SessionState, messages: readonly HistoryMessage[]): void {
  const fromEnd = state.current?.aboutFromEnd ?? 0;
  state.history.splice(state.history.length - fromEnd, 0, ...messages);
}

/** The state without its history, which snapshots keep in segments. */
export function snapshotBody(state: SessionState): JsonObject {
  const { history: _history, ...rest } = state;
  return rest as unknown as JsonObject;
}

export function fromSnapshot(body: JsonObject): SessionState {
  const kept = body as unknown as Partial<SessionState>;
  return { ...emptyState(), ...kept, valve: { ...OPEN_VALVE, ...kept.valve }, history: [] };
}
