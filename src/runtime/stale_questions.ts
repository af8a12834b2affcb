import type { Audit } from "../audit/audit.ts";
import type { Interventions } from "../interventions/interventions.ts";
import type { SessionState } from "../session/state.ts";
import type { Store } from "../store/store.ts";

export interface StaleQuestionsOptions {
  store: Store;
  interventions: Pick<Interventions, "settle">;
  audit: Audit;
  /** When this process began to ask, in epoch milliseconds. */
  since: number;
}

/**
 * Forgets questions of consent that an earlier process left in a session and that nothing will take up again: a turn that goes
 * on asks its own anew, under the same id; what asked any other is gone. Answers the ids of those that will be asked anew.
 */
export async function forgetStaleQuestions(
  session: string,
  { current, retry }: Pick<SessionState, "current" | "retry">,
  { store, interventions, audit, since }: StaleQuestionsOptions,
): Promise<string[]> {
  const going = [current, retry].flatMap((turn) => turn ? [`consent:${session}/${turn.turn}/`] : []);
  const left: string[] = [];
  for (const { id, kind, askedAt, answer } of await store.questions(session)) {
    if (kind !== "consent" || askedAt >= since) continue;
    if (going.some((prefix) => id.startsWith(prefix))) {
      left.push(id);
      continue;
    }
    await interventions.settle(id);
    if (!answer) {
      audit.emit("intervention_closed", session, { question: id, kind, reason: "withdrawn" });
    }
  }
  return left;
}
