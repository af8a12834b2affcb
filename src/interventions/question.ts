import { createHash } from "node:crypto";
import { escapeVisible } from "../errors/escape_visible.ts";

export type QuestionKind = "consent" | "valve";

/** What a person is asked, on every surface the same. */
export interface Question {
  /** Stable: a question that is put again after a crash is the same one. */
  id: string;
  /** `<agent>/<sid>` of the session that asks. */
  session: string;
  kind: QuestionKind;
  /** One line, in reyn's own words. */
  title: string;
  lines: readonly QuestionLine[];
  choices: readonly Choice[];
}

/** A line below the title. What an agent wrote is told apart from what reyn says. */
export interface QuestionLine {
  from: "reyn" | "agent";
  text: string;
}

export interface Choice {
  answer: string;
  label: string;
  /** What the question comes to when nobody answers it. */
  refusal?: boolean;
}

/** Names a question where its id, which may hold any text, would have to be escaped. */
export function publicId(id: string): string {
  return createHash("sha256").update(id).digest("hex").slice(0, 32);
}

/** In front of each line that an agent wrote. */
const AGENT_MARK = "the agent says: ";

/** The whole question as lines of plain text without the choices; nothing in it can move a cursor or hide. */
export function questionText({ title, lines }: Question): string {
  const shown = lines.flatMap(({ from, text }) =>
    text.split("\n").map((line) => `  ${from === "agent" ? AGENT_MARK : ""}${escapeVisible(line)}`)
  );
  return [escapeVisible(title), ...shown].join("\n");
}

/** `[A] always  [y] yes, this once  [n] no` */
export function choicesText({ choices }: Question): string {
  return choices.map(({ answer, label }) => `[${answer}] ${label}`).join("  ");
}

/** The answer that refuses: of all choices the one that is marked, else the last. */
export function refusalOf({ choices }: Question): string {
  return (choices.find(({ refusal }) => refusal) ?? choices.at(-1))?.answer ?? "n";
}
