import { z } from "zod";
import { type AuditEnds, auditEnds, type AuditFilter, readAudit } from "../../audit/reader.ts";
import { isAuditType } from "../../audit/groups.ts";
import { failure } from "../api_error.ts";
import { type Call, type Route, route } from "../route.ts";

/** Of the log without a `since`. */
const DEFAULT_BACK_MS = 10 * 60_000;
/** A clock that was set back may have stamped what came later with an earlier time. */
const CLOCK_STEP_MS = 3600_000;
const LAST_EVENT = "Goes on behind the event of this id.";

const auditQuery = z.strictObject({
  session: z.string().optional().meta({ description: "Only of this session: `<agent>/<sid>`, or `<sid>`." }),
  type: z.string().optional().meta({ description: "Only these types, separated by commas." }),
  since: z.iso.datetime({ offset: true }).optional().meta({
    description: "Only since then; without it the last ten minutes, in a stream what comes from now on.",
  }),
});
type AuditQuery = z.output<typeof auditQuery>;

export const eventRoutes: readonly Route[] = [
  route<AuditQuery>({
    method: "GET",
    path: "/api/events",
    summary: "Reads the audit log; with `accept: text/event-stream` it goes on as new events come",
    needs: ["observe"],
    headers: { "Last-Event-ID": LAST_EVENT },
    query: auditQuery as z.ZodObject & z.ZodType<AuditQuery>,
    answers: {
      200: { says: "one event a line", schema: null, type: ["application/x-ndjson", "text/event-stream"] },
    },
    async handle(call) {
      const { hosting, streams } = call;
      const filter = filterOf(call.query);
      if (!/\btext\/event-stream\b/.test(call.header("accept") ?? "")) {
        await hosting.audit.flush();
        const sinceMs = filter.sinceMs ?? hosting.host.clock.now() - DEFAULT_BACK_MS;
        const { eventsDir: dir, host: { ioClock: clock } } = hosting;
        const lines = readAudit({ dir, clock, filter: { ...filter, sinceMs } });
        return streams.lines(textsOf(lines), "application/x-ndjson");
      }
      const place = placeOf(call.header("last-event-id"));
      const { eventsDir: dir, host: { ioClock: clock } } = hosting;
      const behind = place || filter.sinceMs !== undefined ? undefined : await auditEnds({ dir, clock });
      return streams.events((out) => {
        const ended = new AbortController();
        void follow(call, filter, { place, behind }, ended.signal, out).catch(() => {}).finally(() =>
          out.end()
        );
        return () => ended.abort();
      });
    },
  }),
  route({
    method: "GET",
    path: "/api/sessions/{session}/events",
    summary: "Tells what happens in a session as it happens; `gap` says that events are missing",
    needs: ["observe"],
    headers: { "Last-Event-ID": LAST_EVENT },
    answers: { 200: { says: "the events", schema: null, type: "text/event-stream" } },
    handle({ hosting, streams, ref, header }) {
      hosting.requireSession(ref);
      const after = header("last-event-id");
      return Promise.resolve(
        streams.events((out) =>
          hosting.hub.watch(`${ref.agent}/${ref.sid}`, {
            event: (event) => out.send(event),
            gap: () => out.send({ type: "gap", data: "{}" }),
          }, after)
        ),
      );
    },
  }),
];

function filterOf({ session, type, since }: AuditQuery): AuditFilter {
  const filter: AuditFilter = {};
  if (session !== undefined) filter.session = session.includes("/") ? session : `default/${session}`;
  if (since !== undefined) filter.sinceMs = Date.parse(since);
  if (type === undefined) return filter;
  const types = type.split(",").map((one) => one.trim());
  const unknown = types.find((one) => !isAuditType(one));
  if (unknown !== undefined) throw failure(400, "E_HTTP_REQUEST", "`type` names no event");
  return { ...filter, types: new Set(types) };
}

async function* textsOf(lines: AsyncIterable<{ text: string }>): AsyncGenerator<string> {
  let piece = "";
  for await (const { text } of lines) {
    piece += `${text}\n`;
    if (piece.length < 64 * 1024) continue;
    yield piece;
    piece = "";
  }
  if (piece !== "") yield piece;
}

interface Place {
  at: number;
  id: string;
}

/** The id of an event in the stream is `<time>.<id of the audit event>`. */
function placeOf(header: string | undefined): Place | undefined {
  if (header === undefined) return undefined;
  const [, at, id] = /^(\d{1,15})\.(\S{1,200})$/.exec(header) ?? [];
  if (at === undefined || id === undefined) {
    throw failure(400, "E_HTTP_REQUEST", "Last-Event-ID is not an id of this stream");
  }
  return { at: Number(at), id };
}

async function follow(
  { hosting }: Call<AuditQuery, undefined>,
  filter: AuditFilter,
  { place, behind }: { place: Place | undefined; behind: AuditEnds | undefined },
  signal: AbortSignal,
  out: { send(event: { id?: string; type?: string; data: string }): void },
): Promise<void> {
  const { eventsDir: dir, host: { ioClock: clock } } = hosting;
  const wanted: AuditFilter = { ...filter };
  let skipping = false;
  if (place) {
    wanted.sinceMs = Math.max(0, place.at - CLOCK_STEP_MS, filter.sinceMs ?? 0);
    await hosting.audit.flush();
    skipping = await holds(place.id, readAudit({ dir, clock, filter: wanted, signal }));
    if (!skipping) {
      out.send({ type: "gap", data: "{}" });
      wanted.sinceMs = Math.max(place.at, filter.sinceMs ?? 0);
    }
  }
  const from = behind ? { behind } : {};
  for await (
    const { event, text, at } of readAudit({ dir, clock, filter: wanted, follow: true, signal, ...from })
  ) {
    if (skipping) skipping = event.id !== place?.id;
    else out.send({ id: `${at}.${event.id}`, type: event.type, data: text });
  }
}

async function holds(id: string, lines: AsyncIterable<{ event: { id: string } }>): Promise<boolean> {
  for await (const { event } of lines) if (event.id === id) return true;
  return false;
}
