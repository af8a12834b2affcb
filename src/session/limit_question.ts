import type { Question, QuestionLine } from "../interventions/question.ts";
import type { InboxRow } from "../store/store.ts";
import type { SessionContext } from "./context.ts";
import { hookOf } from "./messages.ts";

/** Of the agent's last reply, what a person is shown. */
const MOST_SAID = 400;
const MOST_LINES = 4;
const MOST_HOOKS = 5;

/** Asks for one more cap: one question for each closing of the valve. */
export function closingQuestion(
  { id, journal, settings }: SessionContext,
  held: readonly InboxRow[],
): Question {
  const { state } = journal;
  const { cap } = settings;
  const said = state.history.findLast(({ role, text }) => role === "assistant" && text !== "")?.text;
  const hooks = [...new Set(held.flatMap((row) => hookOf(row) ?? []))];
  const more = hooks.length > MOST_HOOKS ? ` and ${hooks.length - MOST_HOOKS} more` : "";
  const by = hooks.length > 0 ? ` of ${hooks.slice(0, MOST_HOOKS).join(", ")}${more}` : "";
  return {
    id: `valve:${id}/${state.turns}`,
    session: id,
    kind: "valve",
    title: `Session ${id} took ${turns(state.valve.count)} by itself. May it go on?`,
    lines: [
      { from: "reyn", text: `limit: ${turns(cap)} (safety.loop.max_hook_driven_turns)` },
      { from: "reyn", text: `waiting: ${held.length === 1 ? "1 message" : `${held.length} messages`}${by}` },
      ...(said === undefined ? [] : [excerpt(said)]),
    ],
    choices: [
      { answer: "y", label: `yes, ${turns(cap, "more ")}` },
      { answer: "n", label: "no", refusal: true },
    ],
  };
}

function excerpt(said: string): QuestionLine {
  const lines = said.slice(0, MOST_SAID).split("\n").slice(0, MOST_LINES);
  const text = lines.join("\n");
  return { from: "agent", text: text.length < said.length ? `${text}…` : text };
}

function turns(count: number, more = ""): string {
  return `${count} ${more}${count === 1 ? "turn" : "turns"}`;
}
