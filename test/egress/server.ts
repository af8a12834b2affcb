import http, { type RequestListener } from "node:http";
import https from "node:https";
import net, { type AddressInfo, type Socket } from "node:net";
import { type AllowedHost, parseAllowedHost } from "../../src/egress/allow.ts";
import { CERTIFICATE, KEY } from "./certificate.ts";

export interface TestServer {
  port: number;
  /** Connections that are open right now. */
  open: () => number;
  /** Connections that there have been. */
  total: () => number;
  close(): Promise<void>;
}

export async function serve(
  listener: RequestListener,
  { tls = false, address = "127.0.0.1" }: { tls?: boolean; address?: string } = {},
): Promise<TestServer> {
  const server = tls
    ? https.createServer({ key: KEY, cert: CERTIFICATE }, listener)
    : http.createServer(listener);
  return await listening(server, address);
}

/** A server that does with the connection what it likes. */
export async function serveRaw(onConnection: (socket: Socket) => void): Promise<TestServer> {
  return await listening(net.createServer(onConnection), "127.0.0.1");
}

async function listening(server: net.Server, address: string): Promise<TestServer> {
  const sockets = new Set<Socket>();
  let total = 0;
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    total += 1;
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  return {
    port: (server.address() as AddressInfo).port,
    open: () => sockets.size,
    total: () => total,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function hosts(...texts: string[]): AllowedHost[] {
  return texts.map((text) => {
    const parsed = parseAllowedHost(text);
    if (!parsed.ok) throw new Error(parsed.problem);
    return parsed.host;
  });
}

/** Waits until something holds, at most two seconds. */
export async function until(holds: () => boolean): Promise<boolean> {
  for (let i = 0; i < 200 && !holds(); i += 1) await new Promise((resolve) => setTimeout(resolve, 10));
  return holds();
}
