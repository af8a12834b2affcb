import type { Clock } from "../clock/clock.ts";
import { escapeVisible } from "../errors/escape_visible.ts";
import type { Interventions } from "../interventions/interventions.ts";
import type { Over } from "../interventions/listener.ts";
import { choicesText, type Question, questionText, refusalOf } from "../interventions/question.ts";
import type { HeldOutput } from "./held_output.ts";
import { dropTypedAhead, type LineInput, readLine } from "./read_line.ts";

export interface TerminalQuestionsOptions {
  interventions: Pick<Interventions, "attach" | "answer">;
  input: LineInput;
  write(text: string): void;
  output: HeldOutput;
  /** Paces the reading. */
  clock: Clock;
  /** False while the terminal belongs to another job. */
  inForeground(): boolean;
}

/** A question that is longer may have left the screen before it ends. */
const MOST_AT_A_GLANCE = 1500;

interface Shown {
  question: Question;
  /** Aborted once it needs no answer any more. */
  gone: AbortController;
  over: Over | undefined;
}

/** Asks questions on the terminal, one after the other; the function detaches it. At the end of input it detaches itself. */
export function askOnTerminal(options: TerminalQuestionsOptions): () => void {
  const { interventions, input, write, output, clock } = options;
  const queue: Shown[] = [];
  let asking = false;

  const askNext = async (): Promise<void> => {
    const next = queue.shift();
    if (!next || next.gone.signal.aborted) return;
    const flooded = new AbortController();
    output.hold(() => flooded.abort());
    const over = AbortSignal.any([next.gone.signal, flooded.signal]);
    try {
      const answer = await askOne(next.question, over);
      if (next.over) return write(`\n${outcomeText(next.over)}\n`);
      if (flooded.signal.aborted) write("\nnot answered: too much output is waiting behind this question\n");
      const given = answer ?? refusalOf(next.question);
      const outcome = await interventions.answer(next.question.id, given, "terminal");
      if (outcome !== "taken") write("that answer came too late\n");
      // A terminal whose input has ended answers nothing any more.
      if (answer === undefined && !flooded.signal.aborted) detach();
    } finally {
      output.release();
    }
  };

  /** Undefined: the input ended, or the question is over. */
  const askOne = async (question: Question, over: AbortSignal): Promise<string | undefined> => {
    if (await dropTypedAhead(input, clock, over) === "ended" || over.aborted) return undefined;
    write(`${shownQuestion(question)}\n${choicesText(question)} (within 5 minutes; anything else is no): `);
    const line = await readLine(input, over);
    if (line === undefined) {
      if (!over.aborted) write("\n");
      return undefined;
    }
    return chosen(question, line);
  };

  const pump = async (): Promise<void> => {
    if (asking) return;
    asking = true;
    try {
      while (queue.length > 0) await askNext();
    } finally {
      asking = false;
    }
  };

  const detach = interventions.attach({
    name: "terminal",
    rank: "terminal",
    live: options.inForeground,
    show({ question }) {
      const shown: Shown = { question, gone: new AbortController(), over: undefined };
      queue.push(shown);
      void pump();
      return (over) => {
        shown.over = over;
        shown.gone.abort();
      };
    },
  });
  return detach;
}

/** The whole question; of a long one its end says how long it is and what it is. */
function shownQuestion(question: Question): string {
  const text = questionText(question);
  if (text.length <= MOST_AT_A_GLANCE) return text;
  return `${text}\n  all of the above, ${text.length} characters, is one question: ${
    escapeVisible(question.title)
  }`;
}

/** What became of a question that was not answered here. */
function outcomeText(over: Over): string {
  if (over.status !== "answered") return "not answered: it does not run";
  return `answered by ${escapeVisible(over.by)}: ${escapeVisible(over.answer)}`;
}

/** A choice by its letter, in either case, or by the first word of its label; whatever else was typed refuses. */
function chosen(question: Question, line: string): string {
  const typed = line.trim().toLowerCase();
  const found = question.choices.find(({ answer, label }) =>
    typed === answer.toLowerCase() || typed === label.split(/[ ,]/)[0]?.toLowerCase()
  );
  return found?.answer ?? refusalOf(question);
}
