import { Buffer } from "node:buffer";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { handleRequest, MAX_BODY_BYTES, type RequestOptions } from "./handle_request.ts";

export interface HookServerOptions extends RequestOptions {
  /** Default 127.0.0.1. */
  host?: string;
  /** Default 8000; 0 takes any that is free, and `url` says which. */
  port?: number;
}

/** How long a client may take to send one request. */
const REQUEST_TIMEOUT_MS = 30_000;

/**
 * Serves a hook over HTTP, as the `url` of a declaration expects it.
 *
 * ```ts
 * const server = new HookServer(new NightShift(), { port: 8000, tokenEnv: "NIGHT_SHIFT_TOKEN" });
 * await server.start();
 * ```
 *
 * POST on any path answers with JSON-RPC (HTTP 200, errors too); GET on a path that ends in `/health` answers `{ok, points}`
 * and needs no token; 401 without the right token, or while the server's own variable is unset; 413 over
 * `maxBodyBytes`; 404 for the rest.
 */
export class HookServer {
  readonly #hook: object;
  readonly #options: HookServerOptions;
  #server: Server | undefined;
  #finished: Promise<void> = Promise.resolve();

  /** `hook` is an instance, such as `new NightShift()`. */
  constructor(hook: object, options: HookServerOptions = {}) {
    this.#hook = hook;
    this.#options = options;
  }

  /** Begins to listen. Rejects when the address cannot be had, or when it listens already. */
  async start(): Promise<void> {
    if (this.#server) throw new Error("the server is started already");
    const server = createServer((request, response) => void this.#answer(request, response));
    server.requestTimeout = REQUEST_TIMEOUT_MS;
    this.#server = server;
    try {
      await new Promise<void>((resolve, reject) => {
        server.once("error", reject);
        server.listen(this.#options.port ?? 8000, this.#options.host ?? "127.0.0.1", resolve);
      });
    } catch (error) {
      this.#server = undefined;
      throw error;
    }
    this.#finished = new Promise((resolve) => server.once("close", () => resolve()));
  }

  /** Host and port that it listens on. Throws before `start`. */
  get address(): { host: string; port: number } {
    const address = this.#server?.address();
    if (address === null || address === undefined || typeof address === "string") {
      throw new Error("the server is not started");
    }
    const { address: host, port } = address satisfies AddressInfo;
    return { host, port };
  }

  /** What a declaration's `url` is to be. Throws before `start`. */
  get url(): string {
    const { host, port } = this.address;
    return `http://${host.includes(":") ? `[${host}]` : host}:${port}/`;
  }

  /** Settles when the server has stopped. */
  get finished(): Promise<void> {
    return this.#finished;
  }

  /** Stops listening and drops what is still open. May be called again. */
  async stop(): Promise<void> {
    const server = this.#server;
    if (!server) return;
    this.#server = undefined;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  }

  async #answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    try {
      const maxBytes = this.#options.maxBodyBytes ?? MAX_BODY_BYTES;
      const response = await handleRequest(this.#hook, await requestOf(incoming, maxBytes), this.#options);
      const body = await response.text();
      const headers = {
        ...Object.fromEntries(response.headers),
        "content-length": String(Buffer.byteLength(body)),
      };
      // What was not read of a request that is too large would be taken for the next one.
      outgoing.writeHead(
        response.status,
        response.status === 413 ? { ...headers, connection: "close" } : headers,
      );
      outgoing.end(body);
    } catch {
      // The client has gone, or sent what is no request.
      if (!outgoing.headersSent) outgoing.writeHead(400, { connection: "close" });
      outgoing.end();
    }
  }
}

/** The request with what is read of its body: one byte more than the limit tells that it is too large. */
async function requestOf(incoming: IncomingMessage, maxBytes: number): Promise<Request> {
  const { method = "GET", url = "/" } = incoming;
  const headers = new Headers();
  if (incoming.headers.authorization !== undefined) {
    headers.set("authorization", incoming.headers.authorization);
  }
  const target = new URL(url, "http://localhost/");
  if (method !== "POST") return new Request(target, { method, headers });
  return new Request(target, { method, headers, body: await bytesOf(incoming, maxBytes) });
}

function bytesOf(incoming: IncomingMessage, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let total = 0;
    const done = () => resolve(new Uint8Array(Buffer.concat(chunks)));
    incoming.on("data", (chunk: Uint8Array) => {
      if (total > maxBytes) return;
      chunks.push(chunk);
      total += chunk.length;
      if (total > maxBytes) done();
    });
    incoming.on("end", done);
    incoming.on("error", reject);
    incoming.on("close", () => reject(new Error("the client has gone")));
  });
}
