import type { Question } from "./question.ts";

/** A surface on which people answer. */
export interface Listener {
  /** For records: `terminal`, `socket`, `http:<token>`. */
  name: string;
  /** A terminal is asked only where no other surface is, and only what is asked while it is attached. */
  rank: "listener" | "terminal";
  /** Whether it is for questions of this session. Default: of every one. */
  wants?(session: string): boolean;
  /** False where it could not be answered right now. Default: as long as it is attached. */
  live?(): boolean;
  /**
   * Shows a question. The function is called, once, when it needs no answer from this surface any more. Answers come back
   * through `Interventions.answer`.
   */
  show(shown: ShownQuestion): (over: Over) => void;
}

/** A question as a surface is shown it. Times are epoch milliseconds. */
export interface ShownQuestion {
  question: Question;
  askedAt: number;
  /** Null: as long as it takes. */
  expiresAt: number | null;
}

export type Reply =
  | { status: "answered"; answer: string; by: string }
  /** No surface is attached, or the last one left. */
  | { status: "nobody" }
  | { status: "expired" }
  /** Whoever asked does not wait any more. */
  | { status: "withdrawn" };

/** Why a surface need not answer any more. */
export type Over = Reply | { status: "detached" };

/** Those who are asked about a session now: a terminal only where nobody else is. */
export function audienceOf(listeners: Iterable<Listener>, session: string): Listener[] {
  const attached = [...listeners].filter((one) => (one.wants?.(session) ?? true) && (one.live?.() ?? true));
  const others = attached.filter(({ rank }) => rank === "listener");
  return others.length > 0 ? others : attached;
}
