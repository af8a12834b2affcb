import type { SQLOutputValue } from "node:sqlite";
import { MOST_QUESTIONS, type QuestionRow } from "../store.ts";
import { type EncodedQuestion, fromJson } from "./encoding.ts";
import { fromText } from "./odd_text.ts";
import type { Tx } from "./rows.ts";
import { asNumber, asText } from "./statements.ts";

/** False: its id is known already. */
export function addQuestion(tx: Tx, session: string, { id, kind, body }: EncodedQuestion): boolean {
  return tx.statements.questionAdd.run(id, session, kind, body, tx.now).changes !== 0;
}

export function askWithin(tx: Tx, session: string, question: EncodedQuestion): "stored" | "known" | "full" {
  if (tx.statements.questionKnown.get(question.id)) return "known";
  const count = tx.statements.questionCount.get(session)?.count;
  if (asNumber(count) >= MOST_QUESTIONS) return "full";
  addQuestion(tx, session, question);
  return "stored";
}

export function applyAnswer(tx: Tx, id: string, text: string, by: string): "stored" | "answered" | "unknown" {
  if (tx.statements.questionAnswer.run(id, text, by, tx.now).changes !== 0) return "stored";
  return tx.statements.questionKnown.get(id) ? "answered" : "unknown";
}

export function questionRow(row: Record<string, SQLOutputValue>): QuestionRow {
  const answered = row.answer !== null;
  return {
    id: fromText(asText(row.id)),
    session: fromText(asText(row.session)),
    kind: fromText(asText(row.kind)),
    body: fromJson(asText(row.body)),
    askedAt: asNumber(row.asked_at),
    answer: answered
      ? {
        text: fromText(asText(row.answer)),
        by: fromText(asText(row.answered_by)),
        at: asNumber(row.answered_at),
      }
      : null,
  };
}
