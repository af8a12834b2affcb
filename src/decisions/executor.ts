import type { DecisionContext, DecisionPoint } from "../points/decision_shapes.ts";

/** What an executor is asked. */
export interface Question<P extends DecisionPoint = DecisionPoint> {
  point: P;
  /** The executor's own copy. */
  context: DecisionContext<P>;
  /** Of the decision: the same for every executor that is asked for it. */
  id: string;
  /** How long the answer is waited for. */
  limitMs: number;
}

/** A decision hook's code, wherever it runs. */
export interface Executor {
  /**
   * Answers, or promises an answer: null or nothing for no change, else an object of decisions. Throws or rejects when it
   * fails. An answer that comes after the limit is not looked at.
   */
  ask(question: Question): unknown;
  /** Called when the limit of a question has passed without an answer: to stop what still runs for it. */
  giveUp?(question: Question): void;
  /** Ends what it holds open. */
  close?(): Promise<void>;
}
