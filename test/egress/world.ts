import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import { after, before } from "node:test";
import { systemClock } from "../../src/clock/clock.ts";
import type { AllowedHost } from "../../src/egress/allow.ts";
import {
  createGuardedFetch,
  type EgressRequest,
  type GuardedFetch,
  type GuardedFetchOptions,
} from "../../src/egress/guarded_fetch.ts";
import type { EgressResult } from "../../src/egress/result.ts";
import { CERTIFICATE } from "./certificate.ts";
import { hosts, serve, type TestServer } from "./server.ts";

/** Names that there are, and what they resolve to. */
export const NAMES: Readonly<Record<string, readonly string[]>> = {
  "name.test": ["127.0.0.1"],
  "other.test": ["127.0.0.1"],
  "private.test": ["10.1.2.3"],
  "mixed.test": ["93.184.216.34", "127.0.0.1"],
  "mapped.test": ["::ffff:127.0.0.1"],
  "nat64.test": ["64:ff9b::7f00:1"],
  "metadata.test": ["169.254.169.254"],
  "scoped.test": ["fe80::1%2"],
  "nothing.test": [],
};

/** A fetch that knows these names, and trusts the certificate of the tests. */
export function fetcher(options: Partial<GuardedFetchOptions> = {}): GuardedFetch {
  return createGuardedFetch({
    clock: systemClock,
    resolve: (name) => {
      const found = NAMES[name];
      return found ? Promise.resolve(found) : Promise.reject(new Error("ENOTFOUND"));
    },
    ca: CERTIFICATE,
    ...options,
  });
}

/** The body of an answer that has to be there. */
export function body(result: EgressResult): string {
  assert.equal(result.outcome, "ok", JSON.stringify(result));
  return result.outcome === "ok" ? new TextDecoder().decode(result.body) : "";
}

/** Why it was refused; what it was instead otherwise. */
export function refusal(result: EgressResult): string {
  return result.outcome === "refused" ? result.reason : `${result.outcome}: ${JSON.stringify(result)}`;
}

export interface Seen {
  /** Method and path. */
  line: string;
  headers: IncomingMessage["headers"];
  body: string;
}

/** A server on loopback, plain and with TLS, that is granted as name.test and other.test. */
export interface World {
  server: TestServer;
  secure: TestServer;
  allow: AllowedHost[];
  /** What was asked, in order. */
  seen: Seen[];
  at(path: string, host?: string): string;
  ask(path: string, rest?: Partial<EgressRequest>): Promise<EgressResult>;
}

/** For the `describe` that it is called in. Filled in before its tests run. */
export function openWorld(): World {
  const seen: Seen[] = [];
  const world = { seen } as World;
  const guarded = fetcher();
  before(async () => {
    const listener = answering(seen);
    world.server = await serve(listener);
    world.secure = await serve(listener, { tls: true });
    const { port } = world.server;
    world.allow = hosts("name.test", "other.test", `127.0.0.1:${port}`, `127.0.0.1:${world.secure.port}`);
    world.at = (path, host = "name.test") => `http://${host}:${port}${path}`;
    world.ask = (path, rest = {}) => guarded({ url: world.at(path), allow: world.allow, ...rest });
  });
  after(async () => {
    await world.server.close();
    await world.secure.close();
  });
  return world;
}

/** Answers by path: redirects, too much, too slow, broken off; else with the method and the host. */
function answering(seen: Seen[]) {
  return (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const path = request.url ?? "";
      seen.push({
        line: `${request.method} ${path}`,
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      });
      const status = Number(/^\/(30\d)/.exec(path)?.[1] ?? 0);
      if (status > 0) {
        const to = path === "/302loop" ? path : decodeURIComponent(/to=(.*)$/.exec(path)?.[1] ?? "/end");
        response.writeHead(status, { location: to }).end("moved");
      } else if (path === "/big") response.writeHead(200).end("x".repeat(100_000));
      else if (path === "/announced") {
        response.writeHead(200, { "content-length": "100000000" });
        response.write("x");
      } else if (path === "/headers") response.writeHead(200, { "x-big": "x".repeat(60_000) }).end();
      else if (path === "/drip") {
        response.writeHead(200);
        const timer = setInterval(() => response.write("x"), 20);
        request.socket.on("close", () => clearInterval(timer));
      } else if (path === "/silent") {
        // Never answers.
      } else if (path === "/broken") {
        response.writeHead(200, { "content-length": "100" });
        response.write("half");
        setTimeout(() => request.socket.destroy(), 20);
      } else if (path === "/teapot") {
        response.writeHead(418, [["X-Two", "a"], ["X-Two", "b"]].flat()).end("short and stout");
      } else response.end(`${request.method} ${request.headers.host}`);
    });
  };
}
