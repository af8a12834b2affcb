import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Received {
  headers: IncomingHttpHeaders;
  body: { jsonrpc: string; id: number; method: string; params: Record<string, unknown> };
  raw: string;
}

export interface TestServer {
  url: string;
  received: Received[];
  /** Connections that were ever opened. */
  connections(): number;
}

/** Runs a service that answers as told, on this machine, for one test. */
export async function withServer(
  answer: (response: ServerResponse, request: Received) => void,
  run: (server: TestServer) => Promise<void>,
): Promise<void> {
  const received: Received[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    let raw = "";
    request.setEncoding("utf8");
    request.on("data", (chunk: string) => (raw += chunk));
    request.on("end", () => {
      const one: Received = { headers: request.headers, raw, body: raw === "" ? null : JSON.parse(raw) };
      received.push(one);
      answer(response, one);
    });
  });
  server.on("connection", () => connections++);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  try {
    await run({ url: `http://127.0.0.1:${port}/hook`, received, connections: () => connections });
  } finally {
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  }
}

/** Answers with a JSON-RPC result. */
export function result(value: unknown) {
  return (response: ServerResponse, { body }: Received): void => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id: body.id, result: value }));
  };
}

/** Answers with this body, in which `ID` stands for the id of the call. */
export function text(status: number, body: string, headers: Record<string, string> = {}) {
  return (response: ServerResponse, { body: call }: Received): void => {
    response.writeHead(status, headers);
    response.end(body.replace("ID", String(call?.id)));
  };
}
