import { z } from "zod";
import { liveComposers } from "../../runtime/list_composers.ts";
import { json, type Route, route } from "../route.ts";

const key = z.object({
  key: z.string(),
  state: z.enum(["pending", "fired"]),
  armed_at: z.string(),
  due_at: z.string().nullable(),
  due_in: z.number().nullable(),
  events: z.number(),
});

const live = z.object({
  session: z.string(),
  loaded: z.boolean().meta({ description: "False: nothing of it is in memory." }),
  composers: z.array(z.object({
    name: z.string(),
    op: z.string(),
    pending: z.number().meta({ description: "How many keys." }),
    keys: z.array(key).meta({ description: "The first thousand." }),
  })),
});

export const composerRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/api/sessions/{session}/composers",
    summary: "Tells what the composers of a loaded session hold in memory",
    needs: ["observe"],
    answers: { 200: { says: "what is pending", schema: live } },
    handle({ hosting, ref }) {
      hosting.requireSession(ref);
      const id = `${ref.agent}/${ref.sid}`;
      const session = hosting.sessions.loaded(id)?.session;
      const composers = session ? liveComposers(session, hosting.host.clock) : [];
      return Promise.resolve(json({ session: id, loaded: session !== undefined, composers }));
    },
  }),
];
