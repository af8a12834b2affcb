import type { TurnStatus } from "../points/reactions.ts";
import type { HistoryMessage } from "./messages.ts";

/** What a session tells those who watch it. Never part of recovery. */
export type SessionEvent =
  | { type: "session_opened"; session: string; resumed: boolean }
  /** A message is in the inbox, durably. */
  | { type: "accepted"; id: string; kind: string }
  | {
    type: "turn_started";
    turn: number;
    kind: string;
    hookDrivenTurns: number;
    /** `resumed`: went on after a crash. `retried`: an interrupted turn's message taken up again. */
    origin: "new" | "resumed" | "retried";
    messages: readonly HistoryMessage[];
  }
  | { type: "context_added"; turn: number; messages: readonly HistoryMessage[] }
  | { type: "reply_delta"; turn: number; text: string }
  | { type: "reply"; turn: number; step: number; message: HistoryMessage }
  | { type: "tool_result"; turn: number; step: number; message: HistoryMessage }
  | { type: "turn_ended"; turn: number; status: TurnStatus; error?: { code: string; message: string } }
  | { type: "valve_closed"; count: number; cap: number; action: string; held: number }
  /** Somebody was asked for one more cap; `by` is the surface, or why there was no answer. */
  | { type: "valve_answered"; extended: boolean; by: string; cap: number; held: number }
  | { type: "held_back"; held: number; action: string }
  | { type: "backing_off"; ms: number }
  | {
    type: "suspended";
    session: string;
    hook: string; /** Messages that wait to wake it. */
    waiting: number;
  }
  | { type: "inbox_refused"; kind: string; reason: string }
  | { type: "session_ended"; session: string };
