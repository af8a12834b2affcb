import { Buffer } from "node:buffer";
import { ReynError } from "../../errors/reyn_error.ts";
import type { InboxMessage, Json, JsonObject, Op, Question } from "../store.ts";
import { toText } from "./odd_text.ts";

export interface EncodedMessage {
  id: string;
  kind: string;
  wake: boolean;
  body: string;
  /** Of the body, as UTF-8. */
  bytes: number;
  digest: number | null;
  outside: boolean;
}

export interface EncodedQuestion {
  id: string;
  kind: string;
  body: string;
}

export type EncodedOp =
  | { op: "append"; record: string }
  | { op: "consume"; ids: string[] }
  | { op: "demote"; ids: string[] }
  | { op: "put"; session: string; message: EncodedMessage }
  | { op: "snapshot"; body: string; history: string[] }
  | { op: "status"; status: string }
  | { op: "ask"; question: EncodedQuestion }
  | { op: "settle"; question: string };

/** History is kept in rows of about this many characters, so that it streams. */
const HISTORY_ROW_CHARS = 256 * 1024;

export function encodeMessage(message: InboxMessage): EncodedMessage {
  const body = toJson(message.body);
  return {
    id: toText(message.id),
    kind: toText(message.kind),
    wake: message.wake,
    body,
    bytes: Buffer.byteLength(body),
    digest: message.digest ?? null,
    outside: message.outside ?? false,
  };
}

export function encodeQuestion({ id, kind, body }: Question): EncodedQuestion {
  return { id: toText(id), kind: toText(kind), body: toJson(body) };
}

/** Done when the call is made, so that what the caller changes afterwards is not stored. */
export function encodeOp(op: Op): EncodedOp {
  switch (op.op) {
    case "append":
      return { op: "append", record: toJson(op.record) };
    case "consume":
    case "demote":
      return { op: op.op, ids: op.ids.map(toText) };
    case "put":
      return { op: "put", session: toText(op.session), message: encodeMessage(op.message) };
    case "snapshot":
      return { op: "snapshot", body: toJson(op.body), history: historyRows(op.history) };
    case "status":
      return { op: "status", status: toJson(op.status) };
    case "ask":
      return { op: "ask", question: encodeQuestion(op.question) };
    case "settle":
      return { op: "settle", question: toText(op.question) };
  }
}

/** Roughly what the op takes in memory while it waits. */
export function sizeOf(op: EncodedOp): number {
  switch (op.op) {
    case "append":
      return op.record.length;
    case "consume":
    case "demote":
      return op.ids.length * 32;
    case "put":
      return op.message.body.length;
    case "snapshot":
      return op.history.reduce((sum, items) => sum + items.length, op.body.length);
    case "status":
      return op.status.length;
    case "ask":
      return op.question.body.length;
    case "settle":
      return op.question.length;
  }
}

export function fromJson(text: string): JsonObject {
  return parse(text) as JsonObject;
}

export function fromJsonList(text: string): JsonObject[] {
  return parse(text) as JsonObject[];
}

function parse(text: string): Json {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ReynError("E_STATE_CORRUPT", "a stored value is not JSON any more", { cause });
  }
}

/** Lone surrogates come out as \u escapes, so the text is always good UTF-8. */
function toJson(value: JsonObject): string {
  const text: string | undefined = JSON.stringify(value);
  if (text === undefined) throw new TypeError("only JSON objects can be stored");
  return text;
}

function historyRows(history: readonly JsonObject[]): string[] {
  const rows: string[] = [];
  let row: string[] = [];
  let chars = 0;
  for (const item of history) {
    const text = toJson(item);
    if (row.length > 0 && chars + text.length > HISTORY_ROW_CHARS) {
      rows.push(`[${row.join(",")}]`);
      row = [];
      chars = 0;
    }
    row.push(text);
    chars += text.length;
  }
  if (row.length > 0) rows.push(`[${row.join(",")}]`);
  return rows;
}
