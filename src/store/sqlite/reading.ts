import type { SQLOutputValue } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { ReynError } from "../../errors/reyn_error.ts";
import type {
  InboxRow,
  JsonObject,
  QuestionRow,
  SessionRow,
  Snapshot,
  Store,
  StoreTotals,
  WalRecord,
} from "../store.ts";
import type { Database } from "./database.ts";
import { fromJson, fromJsonList } from "./encoding.ts";
import { fromText, toText } from "./odd_text.ts";
import { questionRow } from "./questions.ts";
import { sessionRow } from "./rows.ts";
import { asNumber, asText, type Statements } from "./statements.ts";
import { truncatablePositions, walkBack } from "./wal_chain.ts";

export type Reading = Pick<
  Store,
  | "pending"
  | "snapshot"
  | "history"
  | "records"
  | "questions"
  | "session"
  | "sessions"
  | "truncatable"
  | "totals"
>;

const RECORDS_IN_BATCH = 2000;
const CHARS_IN_BATCH = 8 * 1024 * 1024;
/** Read before the size of records is known. */
const FIRST_ROWS = 16;
const HISTORY_ROWS_AT_ONCE = 16;
/** Reading past strangers' records in a range is cheaper than looking each of ours up, up to this many to one. */
const SPARSEST_RANGE = 4;

export function reading(database: Database): Reading {
  /** Says whose value is damaged: the other sessions of the store may well be whole. */
  const decoded = <T>(session: string, decode: () => T): T => {
    try {
      return decode();
    } catch (error) {
      if (!(error instanceof ReynError) || error.code !== "E_STATE_CORRUPT") throw error;
      throw new ReynError("E_STATE_CORRUPT", `${database.path}: session ${session}: ${error.message}`, {
        fix: "restore a backup; the other sessions can be used",
        cause: error,
      });
    }
  };

  return {
    async pending(session, limit): Promise<InboxRow[]> {
      const id = toText(session);
      return await database.read((statements) => {
        const found = statements.sessionById.get(id);
        if (!found) return [];
        return statements.inboxPending.all(asNumber(found.key), limit).map((row) => ({
          seq: asNumber(row.seq),
          id: fromText(asText(row.id)),
          kind: fromText(asText(row.kind)),
          wake: row.wake === 1,
          body: decoded(session, () => fromJson(asText(row.body))),
        }));
      });
    },

    async snapshot(session): Promise<Snapshot | undefined> {
      const row = await database.read((statements) => statements.snapshotGet.get(toText(session)));
      return row && {
        uptoSeq: asNumber(row.upto_seq),
        body: decoded(session, () => fromJson(asText(row.body))),
      };
    },

    async *history(session): AsyncGenerator<JsonObject[]> {
      const found = await database.read((statements) => statements.sessionById.get(toText(session)));
      if (!found) return;
      const key = asNumber(found.key);
      let after = 0;
      for (;;) {
        const rows = await database.read((s) => s.historyGet.all(key, after, HISTORY_ROWS_AT_ONCE));
        for (const row of rows) {
          after = asNumber(row.n);
          yield decoded(session, () => fromJsonList(asText(row.items)));
        }
        if (rows.length < HISTORY_ROWS_AT_ONCE) return;
        await nextTurn();
      }
    },

    async *records(session, afterSeq): AsyncGenerator<WalRecord[]> {
      const found = await database.read((statements) => statements.sessionById.get(toText(session)));
      if (!found) return;
      const key = asNumber(found.key);
      const last = { pos: asNumber(found.wal_pos), seq: asNumber(found.wal_seq) };
      const positions = await walkBack(database, key, last, afterSeq);
      let seq = last.seq - positions.length;
      for (let from = 0; from < positions.length;) {
        const wanted = positions.subarray(from, from + RECORDS_IN_BATCH);
        const batch = await database.read((statements) =>
          decoded(session, () => readBatch(statements, key, wanted))
        );
        for (const record of batch) {
          if (record.seq !== ++seq) throw gone(session, seq);
        }
        if (batch.length === 0) throw gone(session, seq + 1);
        from += batch.length;
        yield batch;
        await nextTurn();
      }
    },

    async questions(session): Promise<QuestionRow[]> {
      const rows = await database.read((statements) =>
        session === undefined ? statements.questionList.all() : statements.questionsOf.all(toText(session))
      );
      return rows.map((row) => decoded(session ?? fromText(asText(row.session)), () => questionRow(row)));
    },

    async session(id): Promise<SessionRow | undefined> {
      const row = await database.read((statements) => statements.sessionById.get(toText(id)));
      return row && sessionRow(row);
    },

    async sessions(page): Promise<SessionRow[]> {
      const rows = await database.read((statements) => {
        if (!page) return statements.sessionList.all();
        const wanted = page.ofNote === true ? statements.sessionPageOfNote : statements.sessionPage;
        return wanted.all(toText(page.after), page.limit);
      });
      return rows.map(sessionRow);
    },

    truncatable: async (session) => (await truncatablePositions(database, session))?.positions.length ?? 0,

    async totals(): Promise<StoreTotals> {
      return await database.read((statements) => {
        const sums = statements.inboxTotals.get() ?? {};
        const oldest = statements.inboxOldest.get()?.at;
        const of = (value: SQLOutputValue | undefined) => typeof value === "number" ? value : 0;
        return {
          sessions: of(sums.sessions),
          waking: of(sums.waking),
          passive: of(sums.passive),
          bytes: of(sums.bytes),
          oldestWakingAt: typeof oldest === "number" ? oldest : null,
        };
      });
    },
  };
}

/** The records at these ascending positions, fewer when they are large. */
function readBatch(statements: Statements, key: number, positions: Float64Array): WalRecord[] {
  const batch: WalRecord[] = [];
  let chars = 0;
  let count = FIRST_ROWS;
  while (batch.length < positions.length && chars < CHARS_IN_BATCH) {
    const wanted = positions.subarray(batch.length, batch.length + count);
    const rows = readRows(statements, key, wanted);
    for (const row of rows) {
      const text = asText(row.record);
      chars += text.length;
      batch.push({ seq: asNumber(row.seq), record: fromJson(text) });
    }
    if (rows.length < wanted.length) break;
    // As many as should fill the batch, going by the size of those so far.
    count = Math.max(1, Math.floor((CHARS_IN_BATCH - chars) / (chars / batch.length + 1)));
  }
  return batch;
}

function readRows(
  statements: Statements,
  key: number,
  positions: Float64Array,
): Record<string, SQLOutputValue>[] {
  const first = positions[0] ?? 0;
  const last = positions[positions.length - 1] ?? 0;
  if (last - first < positions.length * SPARSEST_RANGE) return statements.walRange.all(first, last, key);
  const rows: Record<string, SQLOutputValue>[] = [];
  for (const pos of positions) {
    const row = statements.walAt.get(pos, key);
    if (!row) break;
    rows.push(row);
  }
  return rows;
}

function gone(session: string, seq: number): ReynError {
  return new ReynError(
    "E_STATE_IO",
    `record ${seq} of session ${session} went away while the session was being read`,
    {
      fix: "read it again: the running reyn has made a snapshot in between",
    },
  );
}
