import type { SessionRow, Store } from "../store/store.ts";
import { olderHistory, recover } from "./journal.ts";
import { hookOf, textOf } from "./messages.ts";
import type { ValveState } from "./valve.ts";

/** How a session stands: `new` has never been opened, `idle` was unloaded with nothing to do. */
export type SessionStanding = "new" | "running" | "idle" | "ended" | "interrupted" | "suspended";

/** `extended`: turns that a person added to the cap. `asking`: somebody is asked for more. */
export interface ValveView {
  count: number;
  cap: number;
  closed: boolean;
  extended?: number;
  asking?: true;
}

/** A question of the session that is not settled yet. */
export interface QuestionView {
  id: string;
  kind: string;
  title: string;
  asked_at: string;
  answered: boolean;
}

/** One session of a listing. */
export interface SessionSummary {
  id: string;
  agent: string;
  state: SessionStanding;
  turns: number;
  waking: number;
  passive: number;
  valve: ValveView;
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
  valve: ValveView;
  suspended_by: string | null;
  questions: QuestionView[];
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
    valve: valveView(state.valve, numberOf(row.status["cap"])),
    suspended_by: state.suspended,
    questions: (await store.questions(row.id)).map(({ id, kind, body, askedAt, answer }) => ({
      id,
      kind,
      title: typeof body["title"] === "string" ? body["title"] : "",
      asked_at: new Date(askedAt).toISOString(),
      answered: answer !== null,
    })),
  };
}

function standing(row: SessionRow, live: boolean): SessionStanding {
  const { status } = row;
  if (status["open"] === undefined) return "new";
  if (status["open"] === true && status["unloaded"] !== true && !live) return "interrupted";
  // Whether it is loaded or not, it takes no turns, and that is what a person has to know.
  if (typeof status["suspended"] === "string") return "suspended";
  if (status["open"] === true) return status["unloaded"] === true ? "idle" : "running";
  return status["retry"] === true ? "interrupted" : "ended";
}

function valveOf(row: SessionRow): ValveView {
  const { count, cap, closed, extensions, asking } = row.status;
  const question = asking === true ? "" : null;
  const valve = {
    count: numberOf(count),
    closed: closed === true,
    extensions: numberOf(extensions),
    question,
  };
  return valveView(valve, numberOf(cap));
}

function valveView({ count, closed, extensions, question }: ValveState, cap: number): ValveView {
  return {
    count,
    cap,
    closed,
    ...(extensions > 0 ? { extended: extensions * cap } : {}),
    ...(question === null ? {} : { asking: true }),
  };
}

function agentOf(id: string): string {
  return id.slice(0, id.indexOf("/"));
}

function numberOf(value: unknown): number {
  return typeof value === "number" ? value : 0;
}
