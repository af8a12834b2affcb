import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type Context, Hono } from "hono";
import type { SessionRef } from "../hooks/session_ref.ts";
import type { Hosting } from "../runtime/serve.ts";
import { apiErrorOf, errorResponse, failure } from "./api_error.ts";
import { openApiDocument } from "./openapi.ts";
import { bodyReader } from "./read_body.ts";
import type { Refusals } from "./refusals.ts";
import { json, type NodeBindings, type Route, route, sendReply } from "./route.ts";
import { busRoutes } from "./routes/bus.ts";
import { composerRoutes } from "./routes/composers.ts";
import { eventRoutes } from "./routes/events.ts";
import { gcRoutes } from "./routes/gc.ts";
import { messageRoutes } from "./routes/messages.ts";
import { questionRoutes } from "./routes/questions.ts";
import { sessionRoutes } from "./routes/sessions.ts";
import { type StatusFacts, statusRoutes } from "./routes/status.ts";
import type { OpenStreams } from "./sse.ts";
import { type Caller, LOCAL, type Tokens } from "./tokens.ts";

export interface AppOptions {
  hosting: Hosting;
  streams: OpenStreams;
  facts: StatusFacts;
  refusals: Refusals;
  /** Null over the control socket, whose callers may do all. */
  tokens: Tokens | null;
}

const NOBODY: Caller = { name: "nobody", surface: "nobody", may: () => false };
const SMALL_BODY = 64 * 1024;
const DEFAULT_AGENT = "default";

/** Every call that the server takes, in the order of the document. */
export function allRoutes(facts: StatusFacts): readonly Route[] {
  const routes: Route[] = [
    ...statusRoutes(facts),
    // First, so that in `main/events` and `main/composers` the second word is the call and not a session.
    ...eventRoutes,
    ...composerRoutes,
    ...sessionRoutes,
    ...messageRoutes,
    ...questionRoutes,
    ...busRoutes,
    ...gcRoutes,
  ];
  routes.push(route({
    method: "GET",
    path: "/api/openapi.json",
    summary: "This document",
    needs: ["observe"],
    answers: { 200: { says: "OpenAPI 3.1", schema: null, type: "application/json" } },
    handle: () => Promise.resolve(json(openApiDocument(routes, facts.version))),
  }));
  return routes;
}

type App = Hono<{ Bindings: NodeBindings }>;

/** The API behind one of its two transports. */
export function createApp(options: AppOptions): App {
  const app: App = new Hono();
  const routes = allRoutes(options.facts);
  const methods = new Map<string, string[]>();
  for (const one of routes) {
    for (const path of spellings(one.path)) {
      app.on(one.method, path, (context) => answer(context, one, options));
      methods.set(path, [...methods.get(path) ?? [], one.method]);
    }
  }
  for (const [path, known] of methods) {
    app.all(path, () => {
      const allow = known.includes("GET") ? ["HEAD", ...known] : known;
      return refuse(options, {
        status: 405,
        code: "E_HTTP_METHOD",
        message: "the path does not take that method",
        headers: { allow: allow.join(", ") },
      });
    });
  }
  app.notFound(() =>
    refuse(options, { status: 404, code: "E_HTTP_NOT_FOUND", message: "the server has no such path" })
  );
  app.onError((error) => refuse(options, apiErrorOf(error)));
  return app;
}

/** `{session}` is `<sid>`, or `<agent>/<sid>`; `{id}` is one word. */
function spellings(path: string): string[] {
  if (!path.includes("{session}")) return [path.replace("{id}", ":id")];
  return [path.replace("{session}", ":agent/:sid"), path.replace("{session}", ":sid")];
}

async function answer(
  context: Context<{ Bindings: NodeBindings }>,
  { needs, body, bodyLimit, handle }: Route,
  options: AppOptions,
): Promise<Response> {
  const { hosting, streams, tokens } = options;
  const { incoming, outgoing } = context.env;
  try {
    const caller = tokens ? tokens.callerOf(incoming.headers.authorization) : LOCAL;
    const missing = needs.find((need) => caller?.may(need) !== true);
    if (missing !== undefined) {
      throw caller ? noScope(missing) : noToken(incoming.headers.authorization, tokens);
    }
    const limit = tokens ? bodyLimit?.tcp : bodyLimit?.socket;
    const answered = await handle({
      hosting,
      streams: streams.to(() => outgoing.destroy()),
      caller: caller ?? NOBODY,
      local: tokens === null,
      ref: refOf(context.req.param("agent"), context.req.param("sid")),
      id: context.req.param("id") ?? "",
      query: context.req.query(),
      body: body ? await reader.read(incoming, limit ?? SMALL_BODY) : undefined,
      header: (name) => [incoming.headers[name] ?? []].flat()[0],
    });
    if (!(answered instanceof Response)) {
      sendReply(outgoing, answered);
      return RESPONSE_ALREADY_SENT;
    }
    // Nobody reads it, and a stream would stay open.
    if (incoming.method === "HEAD") await answered.body?.cancel();
    return answered;
  } catch (error) {
    return refuse(options, apiErrorOf(error));
  } finally {
    // What is still to come of the body is read and dropped, within the time of a request.
    if (!incoming.readableEnded) incoming.resume();
  }
}

const reader = bodyReader();

function refuse({ refusals }: AppOptions, error: ReturnType<typeof apiErrorOf>): Response {
  refusals.note(error);
  return errorResponse(error);
}

function refOf(agent: string | undefined, sid: string | undefined): SessionRef {
  if (sid === undefined) return { agent: DEFAULT_AGENT, sid: "" };
  if (agent !== undefined) return { agent, sid };
  const slash = sid.indexOf("/");
  return slash === -1
    ? { agent: DEFAULT_AGENT, sid }
    : { agent: sid.slice(0, slash), sid: sid.slice(slash + 1) };
}

function noToken(given: string | undefined, tokens: Tokens | null) {
  const none = tokens?.declared !== true;
  const message = given === undefined ? "this needs a token" : "no token is like the one given";
  const fix = none
    ? "declare `server.tokens`; the control socket needs none"
    : "send `authorization: Bearer <token>`";
  const error = failure(401, "E_HTTP_TOKEN", message, fix);
  error.error.headers = { "www-authenticate": "Bearer" };
  return error;
}

function noScope(missing: string) {
  return failure(
    403,
    "E_HTTP_SCOPE",
    `the token lacks the scope ${missing}`,
    "`server.tokens` grants scopes",
  );
}
