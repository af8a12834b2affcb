import { parseAddress } from "./address.ts";
import { type Target, withoutDot } from "./allow.ts";
import type { EgressHeaders, RefusalReason } from "./result.ts";

export const METHODS: ReadonlySet<string> = new Set([
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "OPTIONS",
]);

export const LONGEST_URL = 8 * 1024;
export const MOST_HEADERS = 64;
/** Names and values of a request together, in bytes. */
export const MOST_HEADER_BYTES = 16 * 1024;
export const MOST_REQUEST_BYTES = 4 * 1024 * 1024;

/** Set by the client: they say where and how bytes travel, or what a proxy on the way does. */
const OF_THE_CONNECTION =
  /^(host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|content-length|expect|http2-settings|proxy-.*)$/;
const NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

export interface Checked {
  url: URL;
  target: Target;
  method: string;
  /** Names in lower case. */
  headers: EgressHeaders;
}

export type CheckResult =
  | { ok: true; checked: Checked }
  | { ok: false; reason: RefusalReason; host: string; detail: string };

/** Checks what can be judged without a list of hosts. The details quote nothing of the request but its host. */
export function checkRequest(
  request: { url: string; method?: string; headers?: EgressHeaders; body?: Uint8Array },
): CheckResult {
  const refuse = (reason: RefusalReason, detail: string, host = ""): CheckResult => ({
    ok: false,
    reason,
    host,
    detail,
  });
  const found = checkUrl(request.url);
  if (!found.ok) return refuse("bad_url", found.problem);
  const { url, target } = found;
  const method = (request.method ?? "GET").toUpperCase();
  if (!METHODS.has(method)) {
    return refuse("bad_method", `the method must be one of ${[...METHODS].join(", ")}`, target.host);
  }
  const headers = (request.headers ?? []).map(([name, value]) => [name.toLowerCase(), value.trim()] as const);
  const problem = headerProblem(headers);
  if (problem !== undefined) return refuse("bad_header", problem, target.host);
  if ((request.body?.length ?? 0) > MOST_REQUEST_BYTES) {
    return refuse("request_too_large", `the body is over ${MOST_REQUEST_BYTES} bytes`, target.host);
  }
  return { ok: true, checked: { url, target, method, headers } };
}

export type UrlResult = { ok: true; url: URL; target: Target } | { ok: false; problem: string };

/** Reads an absolute URL. Every spelling of an address that the URL standard knows comes out as the address. */
export function checkUrl(text: string, base?: URL): UrlResult {
  const wrong = (problem: string): UrlResult => ({ ok: false, problem });
  if (text.length > LONGEST_URL) return wrong(`the URL is over ${LONGEST_URL} characters`);
  const url = URL.parse(text, base);
  if (!url) return wrong("not an absolute URL");
  const isTls = url.protocol === "https:";
  if (!isTls && url.protocol !== "http:") return wrong("only http and https are spoken");
  if (url.username !== "" || url.password !== "") return wrong("a URL may hold no user and no password");
  const host = withoutDot(url.hostname.toLowerCase().replace(/^\[(.*)\]$/, "$1"));
  if (host === "" || host.endsWith(".") || host.includes("%")) return wrong("the URL's host is malformed");
  if (host.includes(":") && !parseAddress(host)) return wrong("the URL's host is malformed");
  const port = url.port === "" ? (isTls ? 443 : 80) : Number(url.port);
  return { ok: true, url, target: { host, port } };
}

function headerProblem(headers: EgressHeaders): string | undefined {
  if (headers.length > MOST_HEADERS) return `more than ${MOST_HEADERS} headers`;
  let bytes = 0;
  for (const [name, value] of headers) {
    bytes += name.length + value.length;
    if (!NAME.test(name)) return "a header's name is malformed";
    if (!VALUE.test(value)) return `the value of ${name} holds what no header may hold`;
    if (OF_THE_CONNECTION.test(name)) return `${name} is set by reyn and nobody else`;
  }
  return bytes > MOST_HEADER_BYTES ? `the headers are over ${MOST_HEADER_BYTES} bytes` : undefined;
}
