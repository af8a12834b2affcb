import type { Audit } from "../audit/audit.ts";
import type { SessionState } from "../session/state.ts";
import type { Store } from "../store/store.ts";

export interface StaleQuestionsOptions {
  store: Store;
  audit: Audit;
  /** When this process began to ask, in epoch milliseconds. */
  since: number;
}

/**
 * Forgets questions of consent that an earlier process left in a session and that nothing will take up again: a turn that goes
 * on asks its own anew, under the same id; what asked any other is gone.
 */
export async function forgetStaleQuestions(
  session: string,
  { current, retry }: Pick<SessionState, "current" | "retry">,
  { store, audit, since }: StaleQuestionsOptions,
): Promise<void> {
  const going = [current, retry].flatMap((turn) => turn ? [`consent:${session}/${turn.turn}/`] : []);
  for (const { id, kind, askedAt, answer } of await store.questions(session)) {
    if (kind !== "consent" || askedAt >= since || going.some((prefix) => id.startsWith(prefix))) continue;
    await store.settle(id);
    if (!answer) {
      audit.emit("intervention_closed", session, { question: id, kind, reason: "withdrawn" });
    }
  }
}
