import { Buffer } from "node:buffer";
import { type Agent, request } from "node:http";
import { TOKEN } from "./server_world.ts";

export interface Answer {
  status: number;
  body: string;
}

export interface AskOptions {
  /** Where: the control socket, or TCP. */
  to: { socketPath: string } | { port: number };
  path: string;
  /** As JSON; a GET without it. */
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  agent?: Agent | false;
  /** Default 5 s. */
  limitMs?: number;
}

/** One request with the token; throws when there is no whole answer. */
export function ask({ to, path, body, headers, agent = false, limitMs = 5000 }: AskOptions): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const sent = request({
      ...to,
      ...("port" in to ? { host: "127.0.0.1" } : {}),
      path,
      agent,
      method: bytes ? "POST" : "GET",
      headers: {
        host: "127.0.0.1",
        authorization: `Bearer ${TOKEN}`,
        ...(bytes ? { "content-type": "application/json", "content-length": String(bytes.length) } : {}),
        ...headers,
      },
    }, (answer) => {
      const parts: Uint8Array[] = [];
      answer.on("data", (part: Uint8Array) => parts.push(part));
      answer.on("error", reject);
      answer.on("aborted", () => reject(new Error("the answer was cut off")));
      answer.on("end", () => {
        clearTimeout(timer);
        resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(parts).toString("utf8") });
      });
    });
    const timer = setTimeout(() => sent.destroy(new Error("no answer in time")), limitMs);
    sent.on("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    sent.end(bytes);
  });
}
