import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { systemClock } from "../../src/clock/clock.ts";
import { randomIds } from "../../src/clock/ids.ts";
import { requireUsable } from "../../src/runtime/configuration.ts";
import { type Hosting, openHosting } from "../../src/runtime/serve.ts";
import { configurations } from "../../src/runtime/serve_configuration.ts";
import type { HttpLimits } from "../../src/server/http_server.ts";
import { type Listening, startServer } from "../../src/server/start.ts";
import { readTokens } from "../../src/server/tokens.ts";

export const TOKENS = {
  see: "see-0123456789abcdef",
  say: "say-0123456789abcdef",
  both: "both-0123456789abcdef",
  all: "all-0123456789abcdef",
  ops: "ops-0123456789abcdef",
};

export interface TestServer {
  dir: string;
  hosting: Hosting;
  server: Listening;
  url: string;
  socket: string;
  /** Over TCP, with the token of that name. */
  fetch(path: string, init?: RequestInit & { as?: keyof typeof TOKENS }): Promise<Response>;
  send(text: string, session?: string): Promise<{ id: string }>;
  /** Sends bytes over TCP as they are; answers what came back until the server closed, or `ms` were over. */
  raw(bytes: string, ms?: number): Promise<{ text: string; closed: boolean }>;
  close(): Promise<void>;
}

/** A whole server on real sockets, in a folder and home of its own. */
export async function startTestServer(
  config = "model: { provider: echo }\n",
  limits: Partial<HttpLimits> = {},
  prepare: (dir: string) => void = () => {},
  fault: (label: string) => void = () => {},
): Promise<TestServer> {
  const base = mkdtempSync(join(tmpdir(), "reyn-server-"));
  const dir = join(base, "control");
  mkdirSync(dir);
  mkdirSync(join(base, ".reyn"), { mode: 0o700 });
  writeFileSync(join(dir, "reyn.yaml"), "{}\n");
  writeFileSync(join(base, ".reyn", "config.yaml"), config, { mode: 0o600 });
  prepare(dir);
  const home = process.env["HOME"];
  process.env["HOME"] = base;
  const configs = configurations(dir);
  const configuration = configs.agent("default");
  requireUsable(configuration);
  const hosting = await openHosting({
    controlDir: dir,
    configuration,
    configurations: configs,
    host: { clock: systemClock, ioClock: systemClock, ids: randomIds(), fault },
    hooks: true,
    talk: () => {},
    onFailure: () => {},
  });
  const tokens = readTokens([
    { name: "see", env: "see", scopes: ["observe"] },
    { name: "say", env: "say", scopes: ["send"] },
    { name: "both", env: "both", scopes: ["observe", "send"] },
    { name: "all", env: "all", scopes: ["observe", "send", "admin"] },
    { name: "ops", env: "ops", scopes: ["consent"] },
  ], TOKENS);
  const server = await startServer({
    hosting,
    config: { host: "127.0.0.1", port: 0, hosts: [], tokens: [] },
    tokens,
    version: "0.0.0",
    metrics: () => Promise.resolve({ type: "text/plain", text: "up 1\n" }),
    limits,
  });

  const self: TestServer = {
    dir,
    hosting,
    server,
    url: server.url,
    socket: join(dir, ".reyn", "state", "control.sock"),
    fetch: (path, { as = "all", headers, ...rest } = {}) =>
      fetch(server.url + path, {
        ...rest,
        headers: {
          authorization: `Bearer ${TOKENS[as]}`,
          ...(rest.body === undefined ? {} : { "content-type": "application/json" }),
          ...headers as Record<string, string>,
        },
      }),
    async send(text, session = "main") {
      const answer = await self.fetch(`/api/sessions/${session}/messages`, {
        method: "POST",
        body: JSON.stringify({ text }),
      });
      return await answer.json() as { id: string };
    },
    raw: (bytes, ms = 3000) =>
      new Promise((resolve) => {
        let text = "";
        const socket = connect(server.port, "127.0.0.1", () => void socket.write(bytes));
        const timer = setTimeout(() => {
          socket.destroy();
          resolve({ text, closed: false });
        }, ms);
        socket.on("data", (part) => text += part.toString());
        socket.on("error", () => {});
        socket.on("close", () => {
          clearTimeout(timer);
          resolve({ text, closed: true });
        });
      }),
    async close() {
      await hosting.drain(1000);
      await server.close(200);
      await hosting.close();
      if (home === undefined) delete process.env["HOME"];
      else process.env["HOME"] = home;
      rmSync(base, { recursive: true, force: true });
    },
  };
  return self;
}

/** Waits until it holds; fails after five seconds. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  what: string,
  seconds = 5,
): Promise<void> {
  for (let tries = 0; tries < seconds * 100; tries++) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`not within ${seconds} s: ${what}`);
}
