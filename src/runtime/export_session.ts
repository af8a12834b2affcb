import { ReynError } from "../errors/reyn_error.ts";
import { olderHistory, recover } from "../session/journal.ts";
import type { HistoryMessage } from "../session/messages.ts";
import { type SessionSummary, summarize } from "../session/view.ts";
import type { JsonObject, Store } from "../store/store.ts";

/** Named in the first line; a change that a reader could stumble over gets another number. */
export const EXPORT_FORMAT = "reyn-session/1";

/** One line of an export, in this order: one `session`, then all `history`, `record` and `inbox`, then one `end`. */
export type ExportLine =
  | {
    type: "session";
    format: typeof EXPORT_FORMAT;
    reyn: string;
    /** ISO 8601, as all times. */
    exported_at: string;
    created_at: string;
  } & SessionSummary
  /** A message of the conversation, oldest first. */
  | {
    type: "history";
    id: string;
    role: HistoryMessage["role"];
    text: string;
    hook?: string;
    turn: number;
    tool_calls?: NonNullable<HistoryMessage["toolCalls"]>;
    tool_call_id?: string;
  }
  /** A record of the session's log that is still kept: what the newest snapshot stands for may be gone. */
  | { type: "record"; seq: number; record: JsonObject }
  /** A message that waits, in order of arrival. */
  | { type: "inbox"; seq: number; id: string; kind: string; wake: boolean; body: JsonObject }
  /** Its absence tells that the export was cut off. */
  | { type: "end"; history: number; records: number; inbox: number };

export interface ExportOptions {
  /** Read as of one instant. */
  store: Store;
  id: string;
  /** A running process holds the state folder. */
  live: boolean;
  reyn: string;
  nowMs: number;
}

/** More than an inbox holds. */
const WHOLE_INBOX = 4096;

/** Everything of one session. Throws E_SESSION_UNKNOWN before the first line. */
export async function* exportSession(options: ExportOptions): AsyncGenerator<ExportLine> {
  const { store, id, live, reyn, nowMs } = options;
  const row = await store.session(id);
  if (!row) {
    throw new ReynError("E_SESSION_UNKNOWN", `there is no session ${id}`, {
      fix: "`reyn sessions list` shows them",
    });
  }
  yield {
    type: "session",
    format: EXPORT_FORMAT,
    reyn,
    exported_at: new Date(nowMs).toISOString(),
    created_at: new Date(row.createdAt).toISOString(),
    ...summarize(row, live),
  };
  const { state } = await recover(store, id);
  const history = [...(await olderHistory(store, id)), ...state.history];
  for (const message of history) yield historyLine(message);
  let records = 0;
  for await (const batch of store.records(id, 0)) {
    for (const { seq, record } of batch) yield { type: "record", seq, record };
    records += batch.length;
  }
  const inbox = await store.pending(id, WHOLE_INBOX);
  for (const { seq, id: messageId, kind, wake, body } of inbox) {
    yield { type: "inbox", seq, id: messageId, kind, wake, body };
  }
  yield { type: "end", history: history.length, records, inbox: inbox.length };
}

function historyLine({ id, role, text, hook, turn, toolCalls, toolCallId }: HistoryMessage): ExportLine {
  return {
    type: "history",
    id,
    role,
    text,
    ...(hook === undefined ? {} : { hook }),
    turn,
    ...(toolCalls === undefined ? {} : { tool_calls: toolCalls }),
    ...(toolCallId === undefined ? {} : { tool_call_id: toolCallId }),
  };
}
