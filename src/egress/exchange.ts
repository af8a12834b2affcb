import { Buffer } from "node:buffer";
import http from "node:http";
import https from "node:https";
import type { LookupFunction } from "node:net";
import type { Checked } from "./check_request.ts";
import type { Pinned } from "./find_addresses.ts";
import type { EgressHeaders, FailureCode } from "./result.ts";

/** Status line and headers of an answer, in bytes. */
export const MOST_ANSWER_HEADER_BYTES = 32 * 1024;

export interface ExchangeOptions {
  /** Where the connection goes; the first that answers is taken. */
  addresses: readonly [Pinned, ...Pinned[]];
  body: Uint8Array | undefined;
  maxBodyBytes: number;
  /** Whether the body of an answer is of no use, so that it ends with its headers. */
  endsAtHeaders: (status: number, headers: EgressHeaders) => boolean;
  ca: string | undefined;
  /** Aborted at the deadline or by the caller: the connection is gone then. */
  signal: AbortSignal;
}

export type Exchanged =
  | { outcome: "ok"; status: number; headers: EgressHeaders; body: Uint8Array }
  | { outcome: "failed"; code: FailureCode; detail: string }
  | { outcome: "too_large"; what: "headers" | "body"; limit: number };

/** One request and its answer, over a connection of its own to one of the given addresses. Never rejects. */
export function exchange(checked: Checked, options: ExchangeOptions): Promise<Exchanged> {
  const { url, target, method } = checked;
  const isTls = url.protocol === "https:";
  return new Promise((resolve) => {
    let isConnected = false;
    const request = (isTls ? https : http).request({
      hostname: target.host,
      port: target.port,
      path: `${url.pathname}${url.search}`,
      method,
      headers: headersOf(checked, options.body),
      // An agent of its own, without a proxy: the platforms' default one asks the environment for it, and keeps connections.
      agent: new (isTls ? https : http).Agent({ keepAlive: false, proxyEnv: {} }),
      lookup: pinned(options.addresses),
      maxHeaderSize: MOST_ANSWER_HEADER_BYTES,
      insecureHTTPParser: false,
      ...(isTls
        ? {
          // Explicit, since the environment can switch the check off.
          rejectUnauthorized: true,
          minVersion: "TLSv1.2" as const,
          ...(target.host.includes(":") || /^[\d.]+$/.test(target.host) ? {} : { servername: target.host }),
          ...(options.ca === undefined ? {} : { ca: options.ca }),
        }
        : {}),
    });
    const end = (result: Exchanged) => {
      options.signal.removeEventListener("abort", onAbort);
      request.destroy();
      resolve(result);
    };
    const onAbort = () => end({ outcome: "failed", code: "aborted", detail: "given up" });
    const onError = (error: Error) => end(failure(error, isConnected));

    request.on("error", onError);
    request.on("socket", (socket) => {
      socket.on("error", onError);
      socket.once("connect", () => (isConnected = true));
    });
    request.on("upgrade", () => end(protocolError("the answer switches protocols")));
    request.on("response", (answer) => {
      const status = answer.statusCode ?? 0;
      const received = pairs(answer.rawHeaders);
      if (status < 200 || status > 599) return end(protocolError(`the status is ${status}`));
      if (options.endsAtHeaders(status, received)) {
        return end({ outcome: "ok", status, headers: received, body: new Uint8Array() });
      }
      const chunks: Buffer[] = [];
      let size = 0;
      const tooLarge = () => end({ outcome: "too_large", what: "body", limit: options.maxBodyBytes });
      const announced = Number(answer.headers["content-length"] ?? 0);
      if (method !== "HEAD" && announced > options.maxBodyBytes) return tooLarge();
      answer.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > options.maxBodyBytes) return tooLarge();
        chunks.push(chunk);
      });
      answer.on("error", onError);
      answer.on("aborted", () => end(protocolError("the answer broke off")));
      answer.on("close", () => {
        if (!answer.complete) end(protocolError("the answer broke off"));
      });
      answer.on("end", () => {
        if (!answer.complete) return end(protocolError("the answer broke off"));
        end({ outcome: "ok", status, headers: received, body: new Uint8Array(Buffer.concat(chunks)) });
      });
    });
    if (options.signal.aborted) return onAbort();
    options.signal.addEventListener("abort", onAbort, { once: true });
    request.end(options.body);
  });
}

/** Answers every lookup of the connection with the addresses that were judged, whatever name is asked for. */
function pinned(addresses: readonly [Pinned, ...Pinned[]]): LookupFunction {
  return (_name, { all }, callback) => {
    if (all) return callback(null, [...addresses]);
    callback(null, addresses[0].address, addresses[0].family);
  };
}

function headersOf(
  { url, headers, method }: Checked,
  body: Uint8Array | undefined,
): Record<string, string[] | string> {
  const result: Record<string, string[] | string> = {
    host: url.host,
    connection: "close",
    "accept-encoding": "identity",
  };
  for (const [name, value] of headers) {
    const before = result[name];
    if (before === undefined || name === "accept-encoding") result[name] = value;
    else result[name] = [before, value].flat();
  }
  if (body || (method !== "GET" && method !== "HEAD")) result["content-length"] = String(body?.length ?? 0);
  return result;
}

function pairs(raw: readonly string[]): EgressHeaders {
  const result: [string, string][] = [];
  for (let i = 0; i + 1 < raw.length; i += 2) result.push([(raw[i] ?? "").toLowerCase(), raw[i + 1] ?? ""]);
  return result;
}

function protocolError(detail: string): Exchanged {
  return { outcome: "failed", code: "protocol", detail };
}

/** By the error's code alone: its text may repeat what came over the wire. */
function failure(error: Error, isConnected: boolean): Exchanged {
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (code === "HPE_HEADER_OVERFLOW") {
    return { outcome: "too_large", what: "headers", limit: MOST_ANSWER_HEADER_BYTES };
  }
  const suffix = /^[A-Z0-9_]{1,60}$/.test(code) ? ` (${code})` : "";
  if (/CERT|SSL|TLS|SELF_SIGNED|ISSUER/.test(code)) {
    return { outcome: "failed", code: "tls", detail: `TLS failed${suffix}` };
  }
  if (!isConnected) return { outcome: "failed", code: "connect", detail: `no connection${suffix}` };
  return protocolError(`the connection failed${suffix}`);
}
