import type { Question } from "./question.ts";

/** A question as it is kept, with its answer once there is one. */
export interface KeptQuestion {
  question: Question;
  /** Epoch milliseconds. */
  askedAt: number;
  answer: Answer | null;
}

export interface Answer {
  answer: string;
  /** The surface it came from, or why it is none: see `Reply`. */
  by: string;
}

/** Where questions outlive the process. Durable when a promise resolves. */
export interface QuestionStore {
  /** `known`: a question of this id is kept already. `full`: the session has as many as it may. */
  ask(question: Question): Promise<"stored" | "known" | "full">;
  /** Of several answers the first counts. */
  answer(id: string, answer: Answer): Promise<"stored" | "answered" | "unknown">;
  settle(id: string): Promise<void>;
  list(): Promise<KeptQuestion[]>;
}

export interface ListedQuestion extends KeptQuestion {
  /** Something waits for it in this process. */
  waits: boolean;
  /** Epoch milliseconds; null where nothing waits for it, or as long as it takes. */
  expiresAt: number | null;
}

/**
 * Whether people are to be told of a question. One of consent that nothing waits for decides nothing by itself, and may have
 * come with the project: its turn puts it again if it was put here.
 */
export function isOpen({ question, answer, waits }: Omit<ListedQuestion, "expiresAt" | "askedAt">): boolean {
  return answer === null && (waits || question.kind !== "consent");
}
