import { DECISION_POINTS, isDecisionPoint } from "../decisions.ts";
import { callHook, handlesPoint } from "../lifecycle_hooks.ts";
import { readAnswer, readContext } from "../read_fields.ts";
import { authorised, type Bearer } from "./bearer.ts";
import { readBody } from "./read_body.ts";

/** Codes of the JSON-RPC errors that a hook's server answers with. */
export const RPC_ERRORS = {
  notJson: -32700,
  notARequest: -32600,
  unknownPoint: -32601,
  wrongType: -32602,
  hookFailed: -32000,
  unauthorised: -32001,
} as const;

/** Largest body that is read, in bytes, where nothing else is said. */
export const MAX_BODY_BYTES = 4 * 1024 * 1024;

export interface RequestOptions extends Bearer {
  /** Largest body that is read, in bytes. Default 4 MiB; a larger one is answered with HTTP 413. */
  maxBodyBytes?: number;
}

/**
 * The server half of the protocol, for any HTTP server: answers one JSON-RPC 2.0 request body with one response body.
 * The result is every decision of the answered context, or null where the hook changes nothing. Never throws: what
 * goes wrong is a JSON-RPC error (-32700 not JSON, -32600 not a request, -32601 no such point, -32602 a field of the
 * wrong type, -32000 the hook failed).
 */
export function handleRequest(hook: object, body: string): Promise<string>;
/**
 * The same for servers that speak `Request` and `Response` (`Deno.serve`, `Bun.serve`): POST on any path is a request, GET
 * on a path that ends in `/health` says which points are handled, anything else is 404. With `tokenEnv` a POST needs
 * that variable's value as bearer token, and is 401 without it, or while the variable is unset.
 */
export function handleRequest(hook: object, request: Request, options?: RequestOptions): Promise<Response>;
export function handleRequest(
  hook: object,
  request: string | Request,
  options: RequestOptions = {},
): Promise<string | Response> {
  return typeof request === "string" ? answerBody(hook, request) : answerRequest(hook, request, options);
}

async function answerRequest(hook: object, request: Request, options: RequestOptions): Promise<Response> {
  const { pathname } = new URL(request.url);
  if (request.method === "GET" || request.method === "HEAD") {
    if (!pathname.endsWith("/health")) return new Response("not found\n", { status: 404 });
    const points = DECISION_POINTS.filter((point) => handlesPoint(hook, point));
    return json(200, JSON.stringify({ ok: true, points }));
  }
  if (request.method !== "POST") return new Response("not found\n", { status: 404 });
  if (!authorised(options, request.headers.get("authorization"))) {
    return json(401, failure(null, RPC_ERRORS.unauthorised, "a bearer token is needed"));
  }
  const body = await readBody(request, options.maxBodyBytes ?? MAX_BODY_BYTES);
  if (body.state === "too_large") {
    return json(413, failure(null, RPC_ERRORS.notARequest, "the body is too large"));
  }
  if (body.state === "failed") {
    return json(400, failure(null, RPC_ERRORS.notJson, "the body could not be read"));
  }
  return json(200, await answerBody(hook, body.text));
}

function json(status: number, body: string): Response {
  return new Response(body, { status, headers: { "content-type": "application/json" } });
}

async function answerBody(hook: object, body: string): Promise<string> {
  let request: unknown;
  try {
    request = JSON.parse(body);
  } catch {
    return failure(null, RPC_ERRORS.notJson, "the body is not JSON");
  }
  if (typeof request !== "object" || request === null || Array.isArray(request)) {
    return failure(null, RPC_ERRORS.notARequest, "the body is not one request object");
  }
  const { jsonrpc, method, params = {}, id = null } = request as Record<string, unknown>;
  const echoed = typeof id === "number" || typeof id === "string" ? id : null;
  if (jsonrpc !== "2.0" || typeof method !== "string") {
    return failure(echoed, RPC_ERRORS.notARequest, "not a JSON-RPC 2.0 request");
  }
  if (typeof params !== "object" || params === null || Array.isArray(params)) {
    return failure(echoed, RPC_ERRORS.notARequest, "params is not an object");
  }
  if (!isDecisionPoint(method)) {
    return failure(echoed, RPC_ERRORS.unknownPoint, "the method is no decision point");
  }
  const context = readContext(method, params);
  if (!context.ok) return failure(echoed, RPC_ERRORS.wrongType, context.reason);
  try {
    const answer = readAnswer(method, await callHook(hook, method, context.value));
    if (!answer.ok) return failure(echoed, RPC_ERRORS.hookFailed, answer.reason);
    return success(echoed, Object.keys(answer.value).length === 0 ? null : answer.value);
  } catch (error) {
    return failure(echoed, RPC_ERRORS.hookFailed, messageOf(error));
  }
}

function success(id: number | string | null, result: unknown): string {
  return JSON.stringify({ jsonrpc: "2.0", id, result });
}

function failure(id: number | string | null, code: number, message: string): string {
  return JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } });
}

/** What was thrown may be anything, and may itself throw when it is looked at. */
function messageOf(error: unknown): string {
  try {
    return (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).slice(0, 500);
  } catch {
    return "the hook threw something that cannot be shown";
  }
}
