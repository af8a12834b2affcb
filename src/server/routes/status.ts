import process from "node:process";
import { z } from "zod";
import { sleep } from "../../clock/clock.ts";
import { isOpen } from "../../interventions/question_store.ts";
import type { Hosting } from "../../runtime/serve.ts";
import { json, type Route, route } from "../route.ts";

export interface StatusFacts {
  /** Where the server listens; null where it does not. */
  url: string | null;
  readonly version: string;
  /** Text for Prometheus. */
  metrics(): Promise<{ type: string; text: string }>;
}

const reason = z.object({ code: z.string(), detail: z.string().optional() });

const status = z.object({
  pid: z.number(),
  version: z.string(),
  started_at: z.string(),
  control_dir: z.string(),
  url: z.string().nullable(),
  agents: z.array(z.string()),
  ready: z.boolean(),
  reasons: z.array(reason),
  sessions: z.object({
    loaded: z.number(),
    active: z.number(),
    valve_closed: z.number(),
    suspended: z.number(),
    failed: z.number(),
  }),
  streams: z.number(),
  questions: z.number().nullable().meta({
    description: "Questions that are open; null: the store does not answer.",
  }),
  memory_bytes: z.number(),
});

export type StatusBody = z.output<typeof status>;

export function statusRoutes(facts: StatusFacts): readonly Route[] {
  return [
    route({
      method: "GET",
      path: "/healthz",
      summary: "Answers while the process lives",
      needs: [],
      answers: { 200: { says: "it lives", schema: z.object({ status: z.literal("ok") }) } },
      handle: () => Promise.resolve(json({ status: "ok" })),
    }),
    route({
      method: "GET",
      path: "/readyz",
      summary: "Whether all is well; without `observe` the reasons are told by their codes alone",
      needs: [],
      answers: {
        200: { says: "ready", schema: z.object({ ready: z.boolean(), reasons: z.array(reason) }) },
        503: {
          says: "not ready, with the reasons",
          schema: z.object({ ready: z.boolean(), reasons: z.array(reason) }),
        },
      },
      handle({ hosting, caller }) {
        const all = hosting.health.reasons();
        const reasons = caller.may("observe") ? all : all.map(({ code }) => ({ code }));
        const ready = reasons.length === 0;
        return Promise.resolve(json({ ready, reasons }, ready ? 200 : 503));
      },
    }),
    route({
      method: "GET",
      path: "/metrics",
      summary: "Metrics for Prometheus",
      needs: ["observe"],
      answers: { 200: { says: "the metrics", schema: null, type: "text/plain" } },
      async handle() {
        const { type, text } = await facts.metrics();
        return { status: 200, type, text };
      },
    }),
    route({
      method: "GET",
      path: "/api/status",
      summary: "How the server stands",
      needs: ["observe"],
      answers: { 200: { says: "its state", schema: status } },
      async handle({ hosting, streams }) {
        const questions = await countSoon(hosting);
        const reasons = hosting.health.reasons();
        const sessions = hosting.sessions.list();
        const body: StatusBody = {
          pid: process.pid,
          version: facts.version,
          started_at: new Date(hosting.startedAt).toISOString(),
          control_dir: hosting.controlDir,
          url: facts.url,
          agents: [...hosting.agents],
          ready: reasons.length === 0,
          reasons,
          sessions: {
            loaded: sessions.length,
            active: sessions.filter(({ active }) => active).length,
            ...hosting.health.counts(),
          },
          streams: streams.open,
          questions,
          memory_bytes: process.memoryUsage().rss,
        };
        return json(body);
      },
    }),
  ];
}

/** For the store to answer; how the server stands is asked for when something is wrong with it, too. */
const SOON_MS = 1_000;

/** Questions that are open, or null. */
async function countSoon({ interventions, host: { ioClock } }: Hosting): Promise<number | null> {
  const counted = interventions.list().then((questions) => questions.filter(isOpen).length, () => null);
  const waited = new AbortController();
  const late = sleep(ioClock, SOON_MS, waited.signal).then(() => null);
  try {
    return await Promise.race([counted, late]);
  } finally {
    waited.abort();
  }
}
