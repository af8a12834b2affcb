import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import { z } from "zod";
import type { SessionRef } from "../hooks/session_ref.ts";
import type { Hosting } from "../runtime/serve.ts";
import { failure } from "./api_error.ts";
import type { Streams } from "./sse.ts";
import type { Caller, Need } from "./tokens.ts";

/** What a route works with. */
export interface Call<Query, Body> {
  hosting: Hosting;
  streams: Streams;
  caller: Caller;
  /** Over the control socket, whose callers may do all. */
  local: boolean;
  /** The session that the path names. */
  ref: SessionRef;
  /** What stands for `{id}` in the path. */
  id: string;
  query: Query;
  body: Body;
  header(name: string): string | undefined;
}

interface RouteText {
  method: "GET" | "POST";
  /** `{session}` stands for `<agent>/<sid>`, or `<sid>` of the agent `default`; `{id}` for one word. */
  path: string;
  summary: string;
  /** All of these; none: anyone may ask. */
  needs: readonly Need[];
  /** Success status, with the form of its JSON; null: not JSON. */
  answers: Readonly<
    Record<number, { says: string; schema: z.ZodType | null; type?: string | readonly string[] }>
  >;
  /** Request headers that it heeds. */
  headers?: Readonly<Record<string, string>>;
  /** Largest body, in bytes. */
  bodyLimit?: { tcp: number; socket: number };
}

/** One call of the API: what it is registered, documented and judged by. */
export interface Route extends RouteText {
  query: z.ZodObject | null;
  body: z.ZodType | null;
  /** `query` and `body` are as they came; throws what they lack. */
  handle(call: Call<Record<string, string>, unknown>): Promise<Response | Reply>;
}

export interface RouteOptions<Query, Body> extends RouteText {
  query?: z.ZodObject & z.ZodType<Query>;
  body?: z.ZodType<Body>;
  handle(call: Call<Query, Body>): Promise<Response | Reply>;
}

export function route<Query = Record<string, never>, Body = undefined>(
  options: RouteOptions<Query, Body>,
): Route {
  const { query, body, handle, ...text } = options;
  return {
    ...text,
    query: query ?? null,
    body: body ?? null,
    async handle(call) {
      return await handle({
        ...call,
        query: query ? judged(query, call.query, "query") : {} as Query,
        body: body ? judged(body, call.body, "body") : undefined as Body,
      });
    },
  };
}

function judged<T>(schema: z.ZodType<T>, value: unknown, what: "query" | "body"): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.slice(0, 5).map((issue) => {
    const at = issue.path.map(String).join(".");
    return at === "" ? issue.message : `${at}: ${issue.message}`;
  });
  throw failure(400, "E_HTTP_BODY", `the ${what} is not what the call takes: ${issues.join("; ")}`);
}

/** An answer that is there as a whole; one that comes in pieces is a Response. */
export interface Reply {
  status: number;
  type: string;
  text: string;
}

export function json(value: unknown, status = 200): Reply {
  return { status, type: "application/json", text: JSON.stringify(value) };
}

/** Writes a whole answer at once. Through a Response it would be read in pieces, which takes longer than most calls. */
export function sendReply(outgoing: ServerResponse, { status, type, text }: Reply): void {
  const body = Buffer.from(text);
  outgoing.writeHead(status, {
    "content-type": type,
    "cache-control": "no-store",
    "content-length": body.byteLength,
  });
  outgoing.end(body);
}

/** What Hono hands on of node's own request. */
export interface NodeBindings {
  incoming: IncomingMessage;
  outgoing: ServerResponse;
}
