import type { SQLOutputValue } from "node:sqlite";
import type { InboxLimits, SessionRow } from "../store.ts";
import { fromJson } from "./encoding.ts";
import { fromText } from "./odd_text.ts";
import { asNumber, asText, type Statements } from "./statements.ts";

/** What runs inside one transaction. */
export interface Tx {
  readonly statements: Statements;
  readonly now: number;
  readonly limits: InboxLimits;
  /** Position of the newest message stored in this transaction, 0 for none. */
  lastMessage: number;
}

/** The part of a session's row that commits and puts change; written back by `saveRow`. */
export interface HotRow {
  readonly key: number;
  walSeq: number;
  walPos: number;
  waking: number;
  /** Passive from the start: may be dropped. */
  passive: number;
  /** Waking once: never dropped. */
  demoted: number;
  /** Of all unconsumed bodies. */
  bytes: number;
}

type Row = Record<string, SQLOutputValue>;

export function hotRow(row: Row): HotRow {
  return {
    key: asNumber(row.key),
    walSeq: asNumber(row.wal_seq),
    walPos: asNumber(row.wal_pos),
    waking: asNumber(row.waking),
    passive: asNumber(row.passive),
    demoted: asNumber(row.demoted),
    bytes: asNumber(row.bytes),
  };
}

export function sessionRow(row: Row): SessionRow {
  return {
    id: fromText(asText(row.id)),
    owner: row.owner === null ? null : fromText(asText(row.owner)),
    epoch: asNumber(row.epoch),
    walSeq: asNumber(row.wal_seq),
    status: fromJson(asText(row.status)),
    createdAt: asNumber(row.created_at),
    updatedAt: asNumber(row.updated_at),
    waking: asNumber(row.waking),
    passive: asNumber(row.passive) + asNumber(row.demoted),
  };
}

/** The row of the session with this id (as stored text), made where there is none. */
export function rowOf(tx: Tx, id: string): HotRow {
  const found = tx.statements.sessionById.get(id);
  if (found) return hotRow(found);
  const key = Number(tx.statements.sessionAdd.run(id, tx.now).lastInsertRowid);
  return { key, walSeq: 0, walPos: 0, waking: 0, passive: 0, demoted: 0, bytes: 0 };
}

export function saveRow(tx: Tx, row: HotRow, status?: string): void {
  const { walSeq, walPos, waking, passive, demoted, bytes, key } = row;
  const { sessionSave, sessionSaveStatus } = tx.statements;
  if (status === undefined) sessionSave.run(walSeq, walPos, waking, passive, demoted, bytes, tx.now, key);
  else sessionSaveStatus.run(walSeq, walPos, waking, passive, demoted, bytes, tx.now, status, key);
}
