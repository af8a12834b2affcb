import { z } from "zod";
import type { Over, ShownQuestion } from "../interventions/listener.ts";
import { publicId } from "../interventions/question.ts";

/** A question as it goes over the wire. */
export const questionForm = z.object({
  id: z.string().meta({ description: "Names it in the path of an answer." }),
  question: z.string().meta({ description: "Its id in the audit log." }),
  session: z.string(),
  kind: z.enum(["consent", "valve"]),
  title: z.string(),
  lines: z.array(z.object({ from: z.enum(["reyn", "agent"]), text: z.string() })).meta({
    description: "What stands below the title; `agent` marks what an agent wrote.",
  }),
  choices: z.array(
    z.object({ answer: z.string(), label: z.string(), refusal: z.boolean().optional() }),
  ),
  asked_at: z.string(),
  expires_at: z.string().optional().meta({
    description: "When it will be refused. Absent where nothing waits for it, or as long as it takes.",
  }),
});
export type QuestionForm = z.output<typeof questionForm>;

/** Why a question needs no answer from a surface any more. */
export const closedForm = z.object({
  id: z.string(),
  reason: z.enum(["answered", "expired", "withdrawn", "nobody", "detached"]),
  answer: z.string().optional(),
  by: z.string().optional(),
});
export type ClosedForm = z.output<typeof closedForm>;

export function questionToForm({ question, askedAt, expiresAt }: ShownQuestion): QuestionForm {
  const { id, session, kind, title, lines, choices } = question;
  return {
    id: publicId(id),
    question: id,
    session,
    kind,
    title,
    lines: [...lines],
    choices: choices.map(({ answer, label, refusal }) => ({
      answer,
      label,
      ...(refusal ? { refusal } : {}),
    })),
    asked_at: new Date(askedAt).toISOString(),
    ...(expiresAt === null ? {} : { expires_at: new Date(expiresAt).toISOString() }),
  };
}

export function questionFromForm(form: QuestionForm): ShownQuestion {
  const { question, session, kind, title, lines, choices, asked_at, expires_at } = form;
  return {
    question: {
      id: question,
      session,
      kind,
      title,
      lines,
      choices: choices.map(({ answer, label, refusal }) => ({
        answer,
        label,
        ...(refusal ? { refusal } : {}),
      })),
    },
    askedAt: Date.parse(asked_at),
    expiresAt: expires_at === undefined ? null : Date.parse(expires_at),
  };
}

export function overToForm(id: string, over: Over): ClosedForm {
  const { status: reason } = over;
  const told = over.status === "answered" ? { answer: over.answer, by: over.by } : {};
  return { id: publicId(id), reason, ...told };
}

export function overFromForm({ reason, answer = "", by = "" }: ClosedForm): Over {
  return reason === "answered" ? { status: reason, answer, by } : { status: reason };
}
