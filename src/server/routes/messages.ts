import { z } from "zod";
import { type Caller } from "../tokens.ts";
import { humanMessage, keyedMessage, LONGEST_MESSAGE } from "../../session/messages.ts";
import type { InboxMessage } from "../../store/store.ts";
import { apiErrorOf, failure } from "../api_error.ts";
import { idempotencyKey } from "../idempotency_key.ts";
import { json, type Route, route } from "../route.ts";

/** A message has at most 32 Mi characters; as JSON each may take several bytes. */
const OVER_TCP = 8 * 1024 * 1024;
const OVER_SOCKET = 4 * LONGEST_MESSAGE;
const BODY_LIMIT = { tcp: OVER_TCP, socket: OVER_SOCKET };
/** What may wait for a client that prints a run's timeline more slowly than the run goes. */
const RUN_BEHIND = 64 * 1024 * 1024;

const KEY_SAYS =
  "Names the message: the same key in the same session is taken once, a repetition is told as `duplicate`, and another message is refused.";

const text = z.string().regex(/\S/, "must not be blank").meta({ description: "What a person says." });

const messageBody = z.strictObject({
  text,
  wake: z.boolean().default(true).meta({
    description: "Whether it starts a turn; false: it waits for the next one.",
  }),
});

const runBody = z.strictObject({ text: text.optional() });

const accepted = z.object({ id: z.string(), session: z.string(), status: z.enum(["stored", "duplicate"]) });

export const messageRoutes: readonly Route[] = [
  route<Record<string, never>, z.output<typeof messageBody>>({
    method: "POST",
    path: "/api/sessions/{session}/messages",
    summary: "Puts a message in a session's inbox; it is durable when this answers",
    needs: ["send"],
    headers: { "Idempotency-Key": KEY_SAYS },
    body: messageBody,
    bodyLimit: BODY_LIMIT,
    answers: {
      200: { says: "it was there already", schema: accepted },
      202: { says: "it is in the inbox", schema: accepted },
    },
    async handle({ hosting, ref, body, caller, header }) {
      const message = messageOf(caller, idempotencyKey(header), body, () => hosting.host.ids.next());
      const status = await hosting.accept(ref, message);
      return json(
        { id: message.id, session: `${ref.agent}/${ref.sid}`, status },
        status === "stored" ? 202 : 200,
      );
    },
  }),
  route<Record<string, never>, z.output<typeof runBody>>({
    method: "POST",
    path: "/api/sessions/{session}/run",
    summary: "Opens a session, gives it a message if there is one, and tells what happens until it is idle",
    needs: ["observe", "send"],
    headers: { "Idempotency-Key": KEY_SAYS },
    body: runBody,
    bodyLimit: BODY_LIMIT,
    answers: {
      200: {
        says:
          "events as in the session's stream; the last one is `run_ended`, or `run_refused` with an error",
        schema: null,
        type: "text/event-stream",
      },
    },
    async handle({ hosting, streams, ref, body, caller, header }) {
      if (hosting.stopping) throw failure(503, "E_STOPPING", "reyn is stopping and takes nothing new");
      hosting.requireSession(ref);
      const { text } = body;
      const message = text === undefined
        ? undefined
        : messageOf(caller, idempotencyKey(header), { text, wake: true }, () => hosting.host.ids.next());
      return streams.events((out) => {
        const unwatch = hosting.hub.watch(`${ref.agent}/${ref.sid}`, {
          event: (event) => out.send(event),
          gap() {},
        });
        hosting.run(ref, message).then(
          (result) => out.send({ type: "run_ended", data: JSON.stringify(result) }),
          (error: unknown) => {
            const { code, message: said, fix } = apiErrorOf(error);
            out.send({ type: "run_refused", data: JSON.stringify({ code, message: said, fix }) });
          },
        ).finally(() => out.end());
        return unwatch;
      }, { behind: RUN_BEHIND });
    },
  }),
];

/** Keys of one token never meet those of another. */
function messageOf(
  caller: Caller,
  key: string | undefined,
  { text, wake }: { text: string; wake: boolean },
  next: () => string,
): InboxMessage {
  if (key === undefined) return { ...humanMessage(next(), text), wake };
  return keyedMessage(`http:${caller.name}:${key}`, text, wake);
}
