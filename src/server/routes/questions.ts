import { z } from "zod";
import { isOpen } from "../../interventions/question_store.ts";
import { failure } from "../api_error.ts";
import { overToForm, questionForm, questionToForm } from "../question_form.ts";
import { type Call, json, type Route, route } from "../route.ts";

const listQuery = z.strictObject({
  session: z.string().min(1).optional().meta({
    description: "Only of this session: `<agent>/<sid>`, or `<sid>`.",
  }),
  rank: z.enum(["listener", "terminal"]).default("listener").meta({
    description:
      "In a stream, `terminal`: is asked only where nobody else is, and only what is asked from now on.",
  }),
});
type ListQuery = z.output<typeof listQuery>;

const answerBody = z.strictObject({
  answer: z.string().meta({ description: "One of the question's choices, letter by letter." }),
});

/** Questions hold whole commands, and all that are open come at once. */
const BEHIND = 4 * 1024 * 1024;

export const questionRoutes: readonly Route[] = [
  route<ListQuery>({
    method: "GET",
    path: "/api/interventions",
    summary: "Lists the questions that are open; with `accept: text/event-stream` it is asked them, " +
      "as `asked` and `closed`, for as long as it reads",
    needs: ["consent"],
    query: listQuery as z.ZodObject & z.ZodType<ListQuery>,
    answers: { 200: { says: "the questions", schema: z.object({ questions: z.array(questionForm) }) } },
    async handle(call) {
      const { hosting, header, query } = call;
      const wants = wanted(query.session);
      if (/\btext\/event-stream\b/.test(header("accept") ?? "")) return attach(call, wants);
      const open = (await hosting.interventions.list()).filter((one) =>
        isOpen(one) && wants(one.question.session)
      );
      return json({ questions: open.map(questionToForm) });
    },
  }),
  route<Record<string, never>, z.output<typeof answerBody>>({
    method: "POST",
    path: "/api/interventions/{id}",
    summary: "Answers a question; the first answer counts",
    needs: ["consent"],
    body: answerBody,
    answers: { 200: { says: "this answer counts", schema: z.object({ status: z.literal("taken") }) } },
    async handle({ hosting, id, body: { answer }, caller }) {
      const status = await hosting.interventions.answer(id, answer, caller.surface);
      switch (status) {
        case "taken":
          return json({ status });
        case "answered":
          throw failure(409, "E_QUESTION_OVER", "it was answered already, or its time is over");
        case "unknown":
          throw failure(404, "E_QUESTION_UNKNOWN", "there is no such question", LISTED);
        case "not_a_choice":
          throw failure(400, "E_QUESTION_CHOICE", await choicesOf(hosting.interventions, id));
      }
    },
  }),
];

const LISTED = "`GET /api/interventions` tells which are open";

function wanted(session: string | undefined): (id: string) => boolean {
  if (session === undefined) return () => true;
  const id = session.includes("/") ? session : `default/${session}`;
  return (one) => one === id;
}

/** The reader is a surface for as long as its stream is open. */
function attach(
  { hosting, streams, caller, query }: Call<ListQuery, undefined>,
  wants: (id: string) => boolean,
) {
  return streams.events((out) => {
    const send = (type: string, data: unknown) => out.send({ type, data: JSON.stringify(data) });
    return hosting.interventions.attach({
      name: caller.surface,
      rank: query.rank,
      wants,
      show(shown) {
        send("asked", questionToForm(shown));
        return (over) => send("closed", overToForm(shown.question.id, over));
      },
    });
  }, { behind: BEHIND });
}

async function choicesOf(
  interventions: Call<ListQuery, undefined>["hosting"]["interventions"],
  id: string,
): Promise<string> {
  const questions = (await interventions.list()).map(questionToForm);
  const found = questions.find((one) => one.id === id || one.question === id);
  const choices = found?.choices.map(({ answer }) => answer) ?? [];
  return `\`answer\` has to be one of ${choices.join(", ")}`;
}
