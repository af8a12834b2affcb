import type { CommitResult, PutOutcome } from "../store.ts";
import type { EncodedOp } from "./encoding.ts";
import { consumeMessage, demoteMessage, putMessage } from "./inbox.ts";
import { addQuestion } from "./questions.ts";
import { type HotRow, hotRow, rowOf, saveRow, type Tx } from "./rows.ts";

export interface EncodedCommit {
  /** As stored text. */
  session: string;
  epoch: number;
  ops: EncodedOp[];
}

/** Applies a commit. Whatever but `ok` comes back, the caller must undo what was done. */
export function applyCommit(tx: Tx, commit: EncodedCommit): CommitResult {
  const held = tx.statements.sessionHeld.get(commit.session, commit.epoch);
  if (!held) return { status: "fenced" };
  const own = hotRow(held);
  const rows = new Map<string, HotRow>([[commit.session, own]]);
  const puts: PutOutcome[] = [];
  let status: string | undefined;
  for (const op of commit.ops) {
    switch (op.op) {
      case "append":
        append(tx, own, op.record);
        break;
      case "consume":
        for (const id of op.ids) {
          if (!consumeMessage(tx, own, id)) return { status: "duplicate" };
        }
        break;
      case "demote":
        for (const id of op.ids) demoteMessage(tx, own, id);
        break;
      case "put": {
        const row = rows.get(op.session) ?? rowOf(tx, op.session);
        rows.set(op.session, row);
        puts.push(putMessage(tx, row, op.message));
        break;
      }
      case "snapshot":
        tx.statements.snapshotSave.run(own.key, own.walSeq, own.walPos, op.body);
        for (const items of op.history) tx.statements.historyAdd.run(own.key, items);
        break;
      case "status":
        status = op.status;
        break;
      case "ask":
        addQuestion(tx, commit.session, op.question);
        break;
      case "settle":
        tx.statements.questionDrop.run(op.question);
        break;
    }
  }
  if (commit.ops.length > 0) {
    for (const row of rows.values()) saveRow(tx, row, row === own ? status : undefined);
  }
  return { status: "ok", walSeq: own.walSeq, puts };
}

function append(tx: Tx, row: HotRow, record: string): void {
  const seq = row.walSeq + 1;
  row.walPos = Number(tx.statements.walAdd.run(row.key, seq, row.walPos, record).lastInsertRowid);
  row.walSeq = seq;
}
