import { Buffer } from "node:buffer";
import { type IncomingMessage, request } from "node:http";
import { type Clock, sleep } from "../clock/clock.ts";
import { CATALOGUE, type ErrorCode } from "../errors/catalogue.ts";
import { ReynError } from "../errors/reyn_error.ts";
import { stateDir } from "../runtime/places.ts";
import { requireOwnSocket } from "./control_socket.ts";
import { findServer } from "./find_server.ts";
import { type ReadEvent, readEvents } from "./read_events.ts";

/** A server on its control socket. Every call throws what the server refuses it with. */
export interface ServerClient {
  pid: number;
  /** `answerMs`: how long the answer may take to begin, and to go on. Default 30 s. */
  get(path: string, answerMs?: number): Promise<unknown>;
  post(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<unknown>;
  /** Events until the stream ends or the signal aborts. */
  stream(path: string, body: unknown, signal: AbortSignal): AsyncGenerator<ReadEvent>;
  /** The same of a GET; resolves when the server has opened the stream. */
  follow(path: string, signal: AbortSignal): Promise<AsyncGenerator<ReadEvent>>;
}

/** A server that has just started, or is just stopping, is waited for so long. */
const PATIENCE_MS = 5_000;
const AGAIN_MS = 50;
/** For one answer to begin, and between its pieces; a turn is never waited for in one. */
const ANSWER_MS = 30_000;
/** A stream says something every 15 seconds, were it only that it lives. */
const SILENCE_MS = 60_000;
const MOST_ANSWER = 512 * 1024 * 1024;

/**
 * The server that runs on this control folder; undefined where none does. Throws E_SERVER_SOCKET when what lies in the place of
 * its socket is not of this user, E_SERVER_UNREACHABLE when it does not answer within `patienceMs` (default 5 s).
 */
export async function connectServer(
  controlDir: string,
  clock: Clock,
  { patienceMs = PATIENCE_MS } = {},
): Promise<ServerClient | undefined> {
  const until = clock.monotonic() + patienceMs;
  for (;;) {
    const holder = findServer(controlDir);
    if (!holder) return undefined;
    try {
      const path = requireOwnSocket(stateDir(controlDir));
      const left = Math.max(AGAIN_MS, until - clock.monotonic());
      await textOf(await ask(path, "GET", "/healthz", { answerMs: left }), left);
      return clientOf(path, holder.pid);
    } catch (error) {
      if (!(error instanceof ReynError) || error.code !== "E_SERVER_UNREACHABLE") throw error;
      if (clock.monotonic() > until) throw error;
      await sleep(clock, AGAIN_MS);
    }
  }
}

/** `/api/sessions/<agent>/<sid>` and what follows. */
export function sessionPath(id: string, rest = ""): string {
  return `/api/sessions/${id.split("/").map(encodeURIComponent).join("/")}${rest}`;
}

function clientOf(path: string, pid: number): ServerClient {
  return {
    pid,
    get: async (to, answerMs = ANSWER_MS) =>
      parse(await textOf(await ask(path, "GET", to, { answerMs }), answerMs)),
    post: async (to, body = {}, headers = {}) =>
      parse(await textOf(await ask(path, "POST", to, { body, headers }))),
    async *stream(to, body, signal) {
      const answer = await ask(path, "POST", to, { body, signal });
      yield* readEvents(piecesOf(answer, SILENCE_MS), signal);
    },
    async follow(to, signal) {
      const headers = { accept: "text/event-stream" };
      const answer = await ask(path, "GET", to, { headers, signal });
      return readEvents(piecesOf(answer, SILENCE_MS), signal);
    },
  };
}

interface AskOptions {
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal | undefined;
  answerMs?: number;
}

function ask(
  socketPath: string,
  method: string,
  path: string,
  { body, headers = {}, signal, answerMs = ANSWER_MS }: AskOptions = {},
): Promise<IncomingMessage> {
  const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  return new Promise((resolve, reject) => {
    const sent = request({
      socketPath,
      method,
      path,
      agent: false,
      headers: {
        ...headers,
        host: "reyn",
        ...(bytes ? { "content-type": "application/json", "content-length": String(bytes.length) } : {}),
      },
    });
    const timer = setTimeout(
      () => sent.destroy(new Error(`no answer within ${Math.ceil(answerMs / 1000)} s`)),
      answerMs,
    );
    const abort = () => sent.destroy(new Error("given up"));
    signal?.addEventListener("abort", abort, { once: true });
    sent.on("response", (answer) => {
      clearTimeout(timer);
      if ((answer.statusCode ?? 500) < 400 || path === "/readyz") return resolve(answer);
      textOf(answer).then((text) => reject(refusalOf(answer.statusCode ?? 500, text)), reject);
    });
    sent.on("error", (error) => {
      clearTimeout(timer);
      reject(unreachable(`the server does not answer on ${socketPath}: ${error.message}`, error));
    });
    sent.end(bytes);
  });
}

async function textOf(answer: IncomingMessage, silenceMs = ANSWER_MS): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of piecesOf(answer, silenceMs)) {
    size += part.byteLength;
    if (size > MOST_ANSWER) throw new ReynError("E_SERVER_UNREACHABLE", "the server's answer is too large");
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

/** What an answer consists of, as long as no piece keeps waiting for longer than that. */
async function* piecesOf(answer: IncomingMessage, silenceMs: number): AsyncGenerator<Uint8Array> {
  const wait = () =>
    setTimeout(
      () => answer.destroy(new Error(`nothing came for ${Math.ceil(silenceMs / 1000)} s`)),
      silenceMs,
    );
  let timer = wait();
  try {
    for await (const part of answer) {
      clearTimeout(timer);
      yield part as Uint8Array;
      timer = wait();
    }
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    throw unreachable(`the server's answer broke off: ${said}`, error);
  } finally {
    clearTimeout(timer);
  }
}

function unreachable(message: string, cause: unknown): ReynError {
  return new ReynError("E_SERVER_UNREACHABLE", message, { cause });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ReynError("E_SERVER_UNREACHABLE", "the server's answer is not JSON");
  }
}

/** What the server refused with, as if it had been refused here. */
function refusalOf(status: number, text: string): ReynError {
  const told: unknown = Reflect.get(Object(parse(text)) as object, "error");
  return errorOf(told) ?? new ReynError("E_SERVER_UNREACHABLE", `the server answered ${status}`);
}

/** An error as the server tells it. */
export function errorOf(told: unknown): ReynError | undefined {
  const { code, message, fix } = Object(told) as Partial<Record<"code" | "message" | "fix", unknown>>;
  if (typeof code !== "string" || typeof message !== "string" || !(code in CATALOGUE)) return undefined;
  return new ReynError(code as ErrorCode, message, typeof fix === "string" ? { fix } : {});
}
