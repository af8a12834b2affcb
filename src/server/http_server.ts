import { getRequestListener } from "@hono/node-server";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type ApiError, errorBody } from "./api_error.ts";
import { refusalOf } from "./guards.ts";
import type { NodeBindings } from "./route.ts";
import type { Refusals } from "./refusals.ts";
import { unreadAnswers } from "./unread_answers.ts";

/** What one client may hold a server up with. Times in milliseconds. */
export interface HttpLimits {
  /** A request, headers and body, has to be there within this time. */
  request: number;
  /** Its headers sooner, counted from the opening of the connection for the first. */
  headers: number;
  /** How long a connection stays open between requests. */
  keepAlive: number;
  /** An answer of which nothing is taken for so long is given up; not over the control socket. */
  unread: number;
  /** How often that is looked after. */
  look: number;
  connections: number;
}

const LIMITS: HttpLimits = {
  request: 30_000,
  headers: 10_000,
  keepAlive: 15_000,
  unread: 120_000,
  look: 2_000,
  connections: 2048,
};
const HEADER_BYTES = 16 * 1024;
/** Of a body whose request has been answered already. */
const MOST_DROPPED = 256 * 1024 * 1024;
/** Left for the store, commands and everything else. */
const OTHER_FILES = 256;

export interface HttpServerOptions {
  /** See `refusalOf`. */
  names: ReadonlySet<string> | null;
  fetch(request: Request, bindings: NodeBindings): Response | Promise<Response>;
  refusals: Refusals;
  limits?: Partial<HttpLimits> | undefined;
}

export interface HttpServer {
  server: Server;
  /** Takes no connection any more; those that are open end with what they do, at the latest after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

/** An HTTP server that bounds what a client may hold it up with. It does not listen yet. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { names, fetch, refusals } = options;
  const limits = { ...LIMITS, ...options.limits };
  const answer = getRequestListener(
    (request, bindings) => fetch(request, bindingsOf(bindings)),
    {
      overrideGlobalObjects: false,
      // It would cut off a client that takes longer than half a second to send what is refused.
      autoCleanupIncoming: false,
      errorHandler: () => new Response(null, { status: 500 }),
    },
  );
  // Over the control socket a person may stand between, who reads on when there is time.
  const unread = names && unreadAnswers({ ms: limits.unread, lookMs: limits.look });
  const server = createServer(
    {
      maxHeaderSize: HEADER_BYTES,
      headersTimeout: limits.headers,
      requestTimeout: limits.request,
      keepAliveTimeout: limits.keepAlive,
      connectionsCheckingInterval: limits.look,
      noDelay: true,
    },
    (request, response) => {
      const refused = refusalOf(request, names);
      lingerAfter(request, response, { ms: limits.request, close: refused !== undefined });
      const written = () => {
        if (response.writableLength > 0) unread?.watch(response);
      };
      if (refused) {
        refuse(response, refused, refusals, { close: !hasBody(request) });
        written();
      } else void Promise.resolve(answer(request, response)).then(written, written);
    },
  );

  const sockets = new Set<Socket>();
  const most = Math.min(limits.connections, openFiles() - OTHER_FILES);
  server.on("connection", (socket: Socket) => {
    if (sockets.size >= most) {
      refusals.note({ status: 503, code: "E_HTTP_BUSY" });
      socket.destroy();
      return;
    }
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    const unreadable = unreadableOf(error.code);
    refusals.note(unreadable);
    if (!socket.writable) return void socket.destroy();
    const body = errorBody(unreadable);
    socket.end(
      `HTTP/1.1 ${unreadable.status} ${unreadable.status === 408 ? "Request Timeout" : "Bad Request"}\r\n` +
        `content-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
    );
    // Who reads nothing would keep the connection.
    const timer = setTimeout(() => void socket.destroy(), limits.unread);
    socket.once("close", () => clearTimeout(timer));
  });

  return {
    server,
    close: (graceMs) =>
      new Promise((resolve) => {
        const timer = setTimeout(() => {
          for (const socket of sockets) socket.destroy();
        }, graceMs);
        server.close(() => {
          clearTimeout(timer);
          unread?.stop();
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
}

function refuse(
  response: ServerResponse,
  error: ApiError,
  refusals: Refusals,
  { close }: { close: boolean },
): void {
  refusals.note(error);
  const body = errorBody(error);
  response.writeHead(error.status, {
    "content-type": "application/json",
    "content-length": String(body.length),
    "cache-control": "no-store",
    ...(close ? { connection: "close" } : {}),
  });
  response.end(body);
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

/**
 * A client that is still sending when it has been answered is read to its end and what it sends dropped, within bounds: to
 * close at once would reset the connection, and the answer could be lost on the way. `close`: no further request is taken.
 */
function lingerAfter(
  request: IncomingMessage,
  response: ServerResponse,
  { ms, close }: { ms: number; close: boolean },
): void {
  if (!hasBody(request)) return;
  let ended = false;
  request.once("end", () => ended = true);
  response.once("finish", () => {
    const { socket } = request;
    if (ended) return void (close && socket.end());
    let bytes = 0;
    const over = () => void socket.destroy();
    const timer = setTimeout(over, ms);
    const count = (part: Uint8Array) => {
      bytes += part.byteLength;
      if (bytes > MOST_DROPPED) over();
    };
    // The socket may serve many requests more.
    const done = () => {
      clearTimeout(timer);
      request.off("data", count).off("end", done);
      socket.off("close", done);
      if (close) socket.end();
    };
    request.on("data", count).once("end", done);
    socket.once("close", done);
    request.resume();
  });
}

function unreadableOf(code: string | undefined): ApiError {
  if (code === "HPE_HEADER_OVERFLOW") {
    return {
      status: 431,
      code: "E_HTTP_TOO_LARGE",
      message: `the headers are larger than ${HEADER_BYTES} bytes`,
    };
  }
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return { status: 408, code: "E_HTTP_REQUEST", message: "the request did not come in time" };
  }
  return { status: 400, code: "E_HTTP_REQUEST", message: "the request is not HTTP" };
}

/** Of HTTP/2 there is none. */
function bindingsOf(bindings: unknown): NodeBindings {
  return bindings as NodeBindings;
}

/** How many files this process may have open at once. */
function openFiles(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    if (soft !== undefined) return Math.max(2 * OTHER_FILES, Number(soft));
  } catch {
    // Not Linux.
  }
  return Infinity;
}
