import { z } from "zod";
import { firedPayload, firedTarget, type Payload } from "../../runtime/fire_payload.ts";
import { publicEvent } from "../../runtime/public_event.ts";
import type { OutsideEvent } from "../../runtime/serve_publish.ts";
import { ANY_EMIT } from "../../runtime/serve_section.ts";
import { DEEPEST_PAYLOAD, isNestedDeeper } from "../../composers/nesting.ts";
import { targetKey } from "../../hooks/hook.ts";
import { namespacedName } from "../../points/reactions.ts";
import { apiErrorOf, failure } from "../api_error.ts";
import { EVENT_NAME, eventKind, LONGEST_KIND, LONGEST_NAME } from "../event_kind.ts";
import { idempotencyKey } from "../idempotency_key.ts";
import { json, type Route, route } from "../route.ts";

/** Of an event, as JSON. */
const LARGEST_EVENT = 64 * 1024;
/** Of a payload given by hand; `reyn hooks fire` takes no more. */
const LARGEST_FIRED = 32 * 1024 * 1024;
/** What may wait for whoever fired and reads more slowly than hooks run. */
const FIRE_BEHIND = 16 * 1024 * 1024;

/** Taken as it is: whatever a key is called. */
const payload = z.custom<Payload>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  "must be a JSON object",
).default({});

const eventBody = z.strictObject({
  name: z.string().regex(EVENT_NAME, `must be A-Z a-z 0-9 _ . -, at most ${LONGEST_NAME}`).optional().meta({
    description: "Makes the kind `http:<token>:<name>`; over the control socket the token is `local`.",
  }),
  kind: z.string().optional().meta({
    description: `In place of a name: \`mcp:…\` or \`webhook:…\`, at most ${LONGEST_KIND} characters.`,
  }),
  payload: payload.meta({ type: "object", description: `Nested at most ${DEEPEST_PAYLOAD} levels deep.` }),
}).refine(({ name, kind }) => (name === undefined) !== (kind === undefined), {
  message: "takes exactly one of name and kind",
});
type EventBody = z.output<typeof eventBody>;

const published = z.object({
  id: z.string(),
  session: z.string(),
  kind: z.string(),
  status: z.enum(["published", "duplicate"]),
  heard: z.boolean().optional().meta({
    description: "Whether a composer of the session waits for such events.",
  }),
});

const fireBody = z.strictObject({ point: z.string(), payload });
type FireBody = z.output<typeof fireBody>;

export const busRoutes: readonly Route[] = [
  route<Record<string, never>, EventBody>({
    method: "POST",
    path: "/api/sessions/{session}/bus",
    summary:
      "Publishes an event on a session's bus; what it armed that is durable is on disk when this answers",
    needs: [ANY_EMIT],
    headers: {
      "Idempotency-Key":
        "Names the event: what follows from it in inboxes is there once, however often it is sent.",
    },
    body: eventBody as z.ZodType<EventBody>,
    bodyLimit: { tcp: LARGEST_EVENT, socket: LARGEST_EVENT },
    answers: {
      200: { says: "it was there already", schema: published },
      202: { says: "it is on the bus", schema: published },
    },
    async handle({ hosting, ref, body, caller, header }) {
      const key = idempotencyKey(header);
      const kind = eventKind({
        ...(body.name === undefined ? {} : { name: body.name }),
        ...(body.kind === undefined ? {} : { kind: body.kind }),
      }, caller);
      requireShallow(body.payload);
      const session = `${ref.agent}/${ref.sid}`;
      const event: OutsideEvent = {
        kind,
        payload: body.payload,
        // Pushes into a third session are told apart by it.
        id: `${session}/http:${caller.name}:${key ?? hosting.host.ids.next()}`,
        repeatable: key !== undefined,
        by: caller.name,
      };
      const outcome = await hosting.publish(ref, event);
      const told = { id: event.id, session, kind };
      if (outcome === "duplicate") return json({ ...told, status: "duplicate" });
      return json({ ...told, status: "published", heard: outcome === "heard" }, 202);
    },
  }),
  route<Record<string, never>, FireBody>({
    method: "POST",
    path: "/api/sessions/{session}/fire",
    summary: "Fires a point by hand, as `reyn hooks fire --run` does; over the control socket alone",
    needs: ["admin"],
    body: fireBody as z.ZodType<FireBody>,
    bodyLimit: { tcp: LARGEST_EVENT, socket: LARGEST_FIRED },
    answers: {
      200: {
        says:
          "`record` for each audit event of the hooks, what else they do, and last `fire_ended`, or `fire_refused` with an error",
        schema: null,
        type: "text/event-stream",
      },
    },
    handle({ hosting, streams, ref, body, local }) {
      if (!local) {
        throw failure(
          403,
          "E_HTTP_SCOPE",
          "points are fired over the control socket alone",
          "`reyn hooks fire`",
        );
      }
      if (hosting.stopping) throw failure(503, "E_STOPPING", "reyn is stopping and takes nothing new");
      hosting.requireSession(ref);
      const target = firedTarget(body.point);
      requireShallow(body.payload);
      const key = targetKey(target);
      const fired: Payload = firedPayload(target, body.payload, ref.agent);
      return Promise.resolve(streams.events((out) => {
        const tell = (type: string, data: unknown) => out.send({ type, data: JSON.stringify(data) });
        hosting.fire(ref, {
          key,
          kind: target.kind === "builtin" ? namespacedName(target.point) : key,
          id: `${ref.agent}/${ref.sid}/fire/${hosting.host.ids.next()}/${key}`,
          payload: fired,
        }, {
          record: (type, data) => tell("record", { type, data }),
          observe(event) {
            const shown = publicEvent(event);
            if (shown) tell(shown.type, shown);
          },
        }).then(
          () => tell("fire_ended", {}),
          (error: unknown) => {
            const { code, message, fix } = apiErrorOf(error);
            tell("fire_refused", { code, message, fix });
          },
        ).finally(() => out.end());
        return () => {};
      }, { behind: FIRE_BEHIND }));
    },
  }),
];

/** JSON may be nested as deep as it is long; what is deeper is measured by nobody. */
function requireShallow(value: Payload): void {
  if (!isNestedDeeper(value, DEEPEST_PAYLOAD)) return;
  throw failure(413, "E_MESSAGE_TOO_LARGE", `the payload is nested more than ${DEEPEST_PAYLOAD} levels deep`);
}
