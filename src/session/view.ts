import type { SessionRow, Store } from "../store/store.ts";
import { olderHistory, recover } from "./journal.ts";
import { hookOf, textOf } from "./messages.ts";

/** How a session stands: `new` has never been opened, `idle` was unloaded with nothing to do. */
export type SessionStanding = "new" | "running" | "idle" | "ended" | "interrupted" | "suspended";

/** One session of a listing. */
export interface SessionSummary {
  id: string;
  agent: string;
  state: SessionStanding;
  turns: number;
  waking: number;
  passive: number;
  valve: { count: number; cap: number; closed: boolean };
  updated_at: string;
}

/** What `sessions show` tells. */
export interface SessionView {
  id: string;
  agent: string;
  state: SessionStanding;
  history: { id: string; role: string; text: string; hook?: string; turn: number }[];
  inbox: { id: string; kind: string; wake: boolean; text: string }[];
  staged: { hook: string; text: string }[];
  valve: { count: number; cap: number; closed: boolean };
  suspended_by: string | null;
}

/** More than an inbox holds. */
const WHOLE_INBOX = 4096;

/** `live`: whether a running process holds the state folder. */
export function summarize(row: SessionRow, live: boolean): SessionSummary {
  return {
    id: row.id,
    agent: agentOf(row.id),
    state: standing(row, live),
    turns: numberOf(row.status["turns"]),
    waking: row.waking,
    passive: row.passive,
    valve: valveOf(row),
    updated_at: new Date(row.updatedAt).toISOString(),
  };
}

export async function viewSession(store: Store, row: SessionRow, live: boolean): Promise<SessionView> {
  const { state } = await recover(store, row.id);
  const history = [...(await olderHistory(store, row.id)), ...state.history];
  const pending = await store.pending(row.id, WHOLE_INBOX);
  const staged = pending.filter((message) => !message.wake && message.kind === "hook");
  const inbox = pending.filter((message) => message.wake || message.kind !== "hook");
  return {
    id: row.id,
    agent: agentOf(row.id),
    state: standing(row, live),
    history: history.map(({ id, role, text, hook, turn }) => ({
      id,
      role,
      text,
      ...(hook === undefined ? {} : { hook }),
      turn,
    })),
    inbox: inbox.map((message) => ({
      id: message.id,
      kind: message.kind,
      wake: message.wake,
      text: textOf(message),
    })),
    staged: staged.map((message) => ({ hook: hookOf(message) ?? "", text: textOf(message) })),
    valve: { ...valveOf(row), count: state.valve.count, closed: state.valve.closed },
    suspended_by: state.suspended,
  };
}

function standing(row: SessionRow, live: boolean): SessionStanding {
  const { status } = row;
  if (status["open"] === undefined) return "new";
  if (status["open"] === true && status["unloaded"] === true) return "idle";
  if (status["open"] === true) return live ? "running" : "interrupted";
  if (typeof status["suspended"] === "string") return "suspended";
  return status["retry"] === true ? "interrupted" : "ended";
}

function valveOf(row: SessionRow): { count: number; cap: number; closed: boolean } {
  const { count, cap, closed } = row.status;
  return { count: numberOf(count), cap: numberOf(cap), closed: closed === true };
}

function agentOf(id: string): string {
  return id.slice(0, id.indexOf("/"));
}

function numberOf(value: unknown): number {
  return typeof value === "number" ? value : 0;
}
