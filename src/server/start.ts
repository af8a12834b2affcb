import { once } from "node:events";
import { rmSync } from "node:fs";
import type { Server } from "node:http";
import process from "node:process";
import { ReynError } from "../errors/reyn_error.ts";
import type { Hosting } from "../runtime/serve.ts";
import type { ServerConfig } from "../runtime/serve_section.ts";
import { type AppOptions, createApp } from "./app.ts";
import { nameControlSocket, prepareControlSocket } from "./control_socket.ts";
import { createHttpServer, type HttpLimits, type HttpServer } from "./http_server.ts";
import { createRefusals } from "./refusals.ts";
import type { StatusFacts } from "./routes/status.ts";
import { writeServerFile } from "./server_file.ts";
import { openStreams } from "./sse.ts";
import type { Tokens } from "./tokens.ts";

export interface Listening {
  /** `http://127.0.0.1:8420`. */
  url: string;
  host: string;
  port: number;
  /** Lets nobody in any more and ends what is open, within `graceMs`. */
  close(graceMs: number): Promise<void>;
}

export interface StartOptions {
  hosting: Hosting;
  config: ServerConfig;
  tokens: Tokens;
  version: string;
  metrics: StatusFacts["metrics"];
  /** Over TCP; sound ones where nothing is said. */
  limits?: Partial<HttpLimits>;
}

/** Listens on the control socket and over TCP. Throws E_SERVER_LISTEN or E_SERVER_SOCKET where that cannot be. */
export async function startServer(options: StartOptions): Promise<Listening> {
  const { hosting, config, tokens, version, metrics } = options;
  const streams = openStreams(hosting.host.ioClock);
  const refusals = createRefusals(hosting.audit, hosting.host.ioClock);
  const facts: StatusFacts = { url: null, version, metrics };
  const shared = { hosting, streams, facts, refusals };

  const names = new Set(config.hosts.map((name) => name.toLowerCase()));
  const tcp = serverOf({ ...shared, tokens }, names, options.limits);
  await listen(tcp.server, { host: config.host, port: config.port }, `${config.host}:${config.port}`);
  const address = tcp.server.address();
  const port = typeof address === "object" && address ? address.port : config.port;
  const url = `http://${config.host.includes(":") ? `[${config.host}]` : config.host}:${port}`;
  facts.url = url;

  const local = serverOf({ ...shared, tokens: null }, null);
  let removeFile = () => {};
  let removeSocket = () => {};
  try {
    const socket = prepareControlSocket(hosting.stateDir);
    await listen(local.server, { path: socket.made }, socket.path);
    nameControlSocket(socket);
    removeSocket = () => rmSync(socket.path, { force: true });
    removeFile = writeServerFile(hosting.stateDir, {
      pid: process.pid,
      url,
      host: config.host,
      port,
      started_at: new Date(hosting.startedAt).toISOString(),
    });
  } catch (error) {
    removeSocket();
    await Promise.all([tcp.close(0), local.close(0)]);
    throw error;
  }

  return {
    url,
    host: config.host,
    port,
    async close(graceMs) {
      removeFile();
      removeSocket();
      streams.close();
      await Promise.all([tcp.close(graceMs), local.close(graceMs)]);
      refusals.close();
    },
  };
}

function serverOf(
  options: AppOptions,
  names: ReadonlySet<string> | null,
  limits?: Partial<HttpLimits>,
): HttpServer {
  const app = createApp(options);
  return createHttpServer({
    names,
    limits,
    refusals: options.refusals,
    fetch: (request, bindings) => app.fetch(request, bindings),
  });
}

async function listen(
  server: Server,
  where: { host: string; port: number } | { path: string },
  shown: string,
): Promise<void> {
  server.listen(where);
  try {
    await once(server, "listening");
  } catch (error) {
    const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
    const why = code === "EADDRINUSE"
      ? "it is taken"
      : error instanceof Error
      ? error.message
      : String(error);
    throw new ReynError("E_SERVER_LISTEN", `the server cannot listen on ${shown}: ${why}`, {
      cause: error,
      fix: "path" in where ? "look at that folder" : "choose another with `server.port` or `--port`",
    });
  }
}
