import type { Audit } from "../audit/audit.ts";
import type { Clock } from "../clock/clock.ts";
import type { Stamp } from "../consent/operator_secret.ts";
import type { ConsentAnswer, ConsentQuestion } from "../consent/question.ts";
import type { ConsentAsker, ExecFiring } from "../hooks/exec_ports.ts";
import {
  createInterventions,
  type InterventionRecord,
  type Interventions,
} from "../interventions/interventions.ts";
import type { Choice, Question, QuestionKind, QuestionLine } from "../interventions/question.ts";
import type { KeptQuestion, QuestionStore } from "../interventions/question_store.ts";
import type { JsonObject, QuestionRow, Store } from "../store/store.ts";

export interface OpenInterventionsOptions {
  store: Store;
  audit: Audit;
  clock: Clock;
  /** Told of the session whose question was answered when it did not wait for that. */
  answered: (session: string) => void;
  /** See `InterventionsOptions`. */
  returnMs: number;
}

/** The queue of questions to people, kept in the store and told of in the log. */
export function openInterventions(
  { store, audit, clock, answered, returnMs }: OpenInterventionsOptions,
): Interventions {
  return createInterventions({
    store: questionStore(store),
    clock,
    returnMs,
    record(record) {
      emit(audit, record);
      if (record.type === "answered" && record.late) answered(record.question.session);
    },
  });
}

/** The port on the embedded store. */
export function questionStore(store: Store): QuestionStore {
  return {
    ask: ({ id, kind, session, title, lines, choices }) => {
      const body = { title, lines, choices } as unknown as JsonObject;
      return store.ask(session, { id, kind, body });
    },
    answer: (id, { answer, by }) => store.answer(id, answer, by),
    settle: (id) => store.settle(id),
    list: async () => (await store.questions()).map(keptQuestion),
  };
}

export function keptQuestion({ id, session, kind, body, askedAt, answer }: QuestionRow): KeptQuestion {
  const { title, lines, choices } = body;
  const question: Question = {
    id,
    session,
    kind: kind as QuestionKind,
    title: typeof title === "string" ? title : "",
    lines: (Array.isArray(lines) ? lines : []) as unknown as readonly QuestionLine[],
    choices: (Array.isArray(choices) ? choices : []) as unknown as readonly Choice[],
  };
  return { question, askedAt, answer: answer && { answer: answer.text, by: answer.by } };
}

export interface ConsentAskerOptions {
  interventions: Interventions;
  /** From then on nobody is asked. */
  stopping: AbortSignal;
  stamp: Stamp;
  /** Ids of questions that an earlier process left and that will be asked anew. */
  left: Set<string>;
}

/**
 * Asks for consent, for the hooks of one session. The question's id is that of the firing and of the command: put again after a
 * crash it is the same one, and a command that has changed is another. The store lies in the project, so the id is stamped: an
 * answer that a project ships is the answer to no question of this operator.
 */
export function consentAsker(
  { interventions, stopping, stamp, left }: ConsentAskerOptions,
): (firing: ExecFiring) => ConsentAsker | undefined {
  return ({ session, firingId }) => {
    const before = [...left].filter((id) => isOf(firingId, id));
    // One that was asked before may have been answered since.
    if (stopping.aborted || (before.length === 0 && !interventions.listening(session))) return undefined;
    let asked: string | undefined;
    return {
      async ask(consent) {
        asked = `consent:${firingId}:${stamp(`${firingId}\n${consent.digest}`)}`;
        const reply = await interventions.ask(asQuestion(asked, session, consent), { signal: stopping });
        return reply.status === "answered" ? reply.answer as ConsentAnswer : null;
      },
      async settle() {
        for (const id of new Set([...before, ...(asked === undefined ? [] : [asked])])) {
          left.delete(id);
          await interventions.settle(id);
        }
      },
    };
  };
}

/** Whether the id of a question is that of this very firing, with some stamp. */
function isOf(firingId: string, id: string): boolean {
  const prefix = `consent:${firingId}:`;
  return id.startsWith(prefix) && /^[0-9a-f]*$/.test(id.slice(prefix.length));
}

function asQuestion(id: string, session: string, consent: ConsentQuestion): Question {
  const { title, command, details, changes, choices } = consent;
  const lines = [command, ...details, ...changes.map((change) => `changed since it was approved: ${change}`)];
  return {
    id,
    session,
    kind: "consent",
    title,
    lines: lines.map((text) => ({ from: "reyn", text })),
    choices: choices.map((choice) => ({ ...choice, ...(choice.answer === "n" ? { refusal: true } : {}) })),
  };
}

function emit(audit: Audit, record: InterventionRecord): void {
  const { id, kind, session } = record.question;
  const about = { question: id, kind };
  switch (record.type) {
    case "asked":
      return audit.emit("intervention_asked", session, { ...about, surfaces: [...record.surfaces] });
    case "answered":
      return audit.emit("intervention_answered", session, {
        ...about,
        answer: record.answer,
        by: record.by,
      });
    case "closed":
      return audit.emit("intervention_closed", session, { ...about, reason: record.reason });
  }
}
