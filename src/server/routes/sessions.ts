import { z } from "zod";
import { ReynError } from "../../errors/reyn_error.ts";
import { summarize, viewSession } from "../../session/view.ts";
import { json, type Route, route } from "../route.ts";

const STATES = ["new", "running", "idle", "ended", "interrupted", "suspended"] as const;
const valve = z.object({
  count: z.number(),
  cap: z.number(),
  closed: z.boolean(),
  extended: z.number().optional().meta({ description: "Turns that a person added to the cap." }),
  asking: z.literal(true).optional().meta({ description: "Somebody is asked for more." }),
});

const summary = z.object({
  id: z.string(),
  agent: z.string(),
  state: z.enum(STATES),
  loaded: z.boolean(),
  active: z.boolean(),
  turns: z.number(),
  waking: z.number(),
  passive: z.number(),
  valve,
  updated_at: z.string(),
});

const view = z.object({
  id: z.string(),
  agent: z.string(),
  state: z.enum(STATES),
  history: z.array(
    z.object({
      id: z.string(),
      role: z.string(),
      text: z.string(),
      hook: z.string().optional(),
      turn: z.number(),
    }),
  ),
  inbox: z.array(z.object({ id: z.string(), kind: z.string(), wake: z.boolean(), text: z.string() })),
  staged: z.array(z.object({ hook: z.string(), text: z.string() })),
  valve,
  suspended_by: z.string().nullable(),
  questions: z.array(
    z.object({
      id: z.string(),
      kind: z.string(),
      title: z.string(),
      asked_at: z.string(),
      answered: z.boolean(),
    }),
  ),
});

const MOST_LISTED = 10_000;

const listQuery = z.strictObject({
  after: z.string().default("").meta({ description: "Only ids behind this one." }),
  limit: z.coerce.number().int().min(1).max(MOST_LISTED).default(MOST_LISTED).meta({
    description: "How many at most.",
  }),
});

export const sessionRoutes: readonly Route[] = [
  route<z.output<typeof listQuery>>({
    method: "GET",
    path: "/api/sessions",
    summary: "Lists sessions, in the order of their ids",
    needs: ["observe"],
    query: listQuery as z.ZodObject & z.ZodType<z.output<typeof listQuery>>,
    answers: { 200: { says: "the sessions", schema: z.object({ sessions: z.array(summary) }) } },
    async handle({ hosting, query }) {
      const rows = await hosting.store.sessions(query);
      const sessions = rows.map((row) => {
        const loaded = hosting.sessions.loaded(row.id);
        return { ...summarize(row, true), loaded: loaded !== undefined, active: loaded?.active ?? false };
      });
      return json({ sessions });
    },
  }),
  route({
    method: "GET",
    path: "/api/sessions/{session}",
    summary: "Shows a session: history, inbox, staged context, valve",
    needs: ["observe"],
    answers: { 200: { says: "the session", schema: view } },
    async handle({ hosting, ref }) {
      const id = `${ref.agent}/${ref.sid}`;
      const row = await hosting.store.session(id);
      if (!row) throw new ReynError("E_SESSION_UNKNOWN", `there is no session ${id}`);
      return json(await viewSession(hosting.store, row, true));
    },
  }),
  route({
    method: "POST",
    path: "/api/sessions/{session}/end",
    summary: "Ends an open session: a turn that runs is interrupted, session_end fires",
    needs: ["admin"],
    answers: {
      200: {
        says: "it has ended",
        schema: z.object({ id: z.string(), ended: z.boolean(), waiting: z.number() }),
      },
    },
    async handle({ hosting, ref }) {
      const { waiting } = await hosting.end(ref);
      return json({ id: `${ref.agent}/${ref.sid}`, ended: true, waiting });
    },
  }),
  route({
    method: "POST",
    path: "/api/sessions/{session}/resume",
    summary: "Lets a session take turns again that a failed hook suspended",
    needs: ["admin"],
    answers: {
      200: {
        says: "whether it was suspended, and by which hook",
        schema: z.object({ id: z.string(), resumed: z.boolean(), suspended_by: z.string().nullable() }),
      },
    },
    async handle({ hosting, ref }) {
      const { was } = await hosting.resume(ref);
      return json({ id: `${ref.agent}/${ref.sid}`, resumed: was !== null, suspended_by: was });
    },
  }),
];
