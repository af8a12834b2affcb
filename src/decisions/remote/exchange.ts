import { Buffer } from "node:buffer";
import { Agent, type IncomingMessage, request as httpRequest } from "node:http";
import { readBody } from "../../points/sdk/read_body.ts";
import { HookFailure } from "../failure.ts";

export interface Sent {
  method: "GET" | "POST";
  headers?: Readonly<Record<string, string>>;
  body?: string;
  signal: AbortSignal;
  /** Largest body of the answer that is read, in bytes, decompressed. */
  maxBytes: number;
}

export interface Received {
  status: number;
  /** Value of the header `date`. */
  date: string | null;
  /** Read only where the status is 2xx. */
  text: string;
}

/** One service's connections. */
export interface Exchange {
  /** Sends one request, follows no redirect. Throws a HookFailure, whose text repeats nothing that was sent or received. */
  send(url: string, sent: Sent): Promise<Received>;
  close(): void;
}

/**
 * https goes through `fetch`, and thus by way of a proxy where the environment names one; it sees only that there is a
 * connection. Plain http is for this machine, and `fetch` would hand it, tokens included, to that proxy: so it does not
 * go through `fetch`.
 */
export function openExchange(): Exchange {
  const agent = new Agent({ keepAlive: true });
  return {
    async send(url, sent) {
      try {
        return await (url.startsWith("https:") ? sendByFetch(url, sent) : sendHere(url, sent, agent));
      } catch (error) {
        if (sent.signal.aborted) throw new HookFailure("TimeoutError", "the answer was not whole in time");
        if (error instanceof HookFailure) throw error;
        // The runtimes' own texts differ, and may repeat what was sent.
        throw new HookFailure("Unreachable", "the service cannot be reached, or closed the connection");
      }
    },
    close: () => agent.destroy(),
  };
}

function tooLarge(maxBytes: number): HookFailure {
  return new HookFailure("RemoteError", `the answer is larger than ${maxBytes} bytes`);
}

async function sendByFetch(
  url: string,
  { method, headers, body, signal, maxBytes }: Sent,
): Promise<Received> {
  const init = {
    method,
    signal,
    redirect: "manual",
    headers: { ...headers },
    ...(body === undefined ? {} : { body }),
  } as const;
  const response = await fetch(url, init);
  const { status } = response;
  const date = response.headers.get("date");
  if (!response.ok) {
    response.body?.cancel().catch(() => {});
    return { status, date, text: "" };
  }
  const read = await readBody(response, maxBytes);
  if (read.state === "too_large") throw tooLarge(maxBytes);
  if (read.state === "failed") {
    throw new HookFailure("Unreachable", "the connection broke off in the middle of the answer");
  }
  return { status, date, text: read.text };
}

/** A service may have closed a connection that was kept: what was lost with it goes out once more, on a new one. */
async function sendHere(url: string, sent: Sent, agent: Agent): Promise<Received> {
  const received = await sendOnce(url, sent, agent);
  return received === "stale" ? await sendFresh(url, sent) : received;
}

async function sendFresh(url: string, sent: Sent): Promise<Received> {
  const agent = new Agent();
  try {
    const received = await sendOnce(url, sent, agent);
    if (received !== "stale") return received;
    throw new HookFailure("Unreachable", "the service closed the connection");
  } finally {
    agent.destroy();
  }
}

function sendOnce(url: string, sent: Sent, agent: Agent): Promise<Received | "stale"> {
  const { method, headers, body, signal, maxBytes } = sent;
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const request = httpRequest(url, { method, agent, headers: { ...headers, ...length } });
    let isAnswered = false;
    const stop = () => {
      reject(new HookFailure("TimeoutError", "no answer in time"));
      request.destroy();
    };
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop, { once: true });
    const done = () => signal.removeEventListener("abort", stop);
    request.on("error", (error) => {
      done();
      if (request.reusedSocket && !isAnswered && !signal.aborted) resolve("stale");
      else reject(error);
    });
    request.on("response", (response: IncomingMessage) => {
      isAnswered = true;
      readHere(response, maxBytes).then((text) => {
        resolve({ status: response.statusCode ?? 0, date: response.headers.date ?? null, text });
      }, (error: unknown) => {
        request.destroy();
        reject(error);
      }).finally(done);
    });
    request.end(body);
  });
}

function readHere(response: IncomingMessage, maxBytes: number): Promise<string> {
  const wanted = (response.statusCode ?? 0) >= 200 && (response.statusCode ?? 0) <= 299;
  const encoding = response.headers["content-encoding"];
  if (wanted && encoding !== undefined && encoding !== "identity") {
    return Promise.reject(
      new HookFailure("RemoteError", "the answer is compressed, which was not asked for"),
    );
  }
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let total = 0;
    response.on("data", (chunk: Uint8Array) => {
      total += chunk.length;
      if (total > maxBytes) reject(tooLarge(maxBytes));
      else if (wanted) chunks.push(chunk);
    });
    response.on("end", () => resolve(Buffer.concat(chunks).toString("utf8")));
    const broken = () =>
      reject(new HookFailure("Unreachable", "the connection broke off in the middle of the answer"));
    for (const event of ["error", "aborted", "close"]) response.on(event, broken);
  });
}
