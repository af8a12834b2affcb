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
