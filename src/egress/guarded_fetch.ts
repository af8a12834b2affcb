import type { Clock } from "../clock/clock.ts";
import { type Allow, judgeHost } from "./allow.ts";
import { type Checked, checkRequest } from "./check_request.ts";
import { exchange } from "./exchange.ts";
import { findAddresses } from "./find_addresses.ts";
import { locationOf, redirect } from "./redirect.ts";
import { type Resolve, systemAddresses, systemResolve } from "./resolve.ts";
import type { EgressHeaders, EgressResult } from "./result.ts";

export interface EgressRequest {
  url: string;
  /** One of `METHODS`. Default GET. */
  method?: string;
  /** Those of the connection (Host, Connection, Content-Length, …) are reyn's own. */
  headers?: EgressHeaders;
  body?: Uint8Array;
  /** Where it, and each redirect of it, may go. */
  allow: Allow;
  /** For the whole of it: lookup, connections, redirects and the last byte. Default 10 s. */
  timeoutMs?: number;
  /** Of the answer's body. Default 1 MiB. */
  maxBodyBytes?: number;
  /** Redirects that are followed; 0: a redirect is the answer. Default 5. */
  maxRedirects?: number;
  signal?: AbortSignal;
}

export interface GuardedFetchOptions {
  clock: Clock;
  /** Default: the system's. */
  resolve?: Resolve;
  /** This machine's addresses. Default: those of its interfaces. */
  ownAddresses?: () => readonly string[];
  /** Certificates that are trusted instead of the platform's, as PEM. */
  ca?: string;
  /** Exchanges that may run at once. Default 32. */
  atOnce?: number;
}

/**
 * One HTTP exchange with a host that the operator granted. The name is looked up here, each of its addresses is judged, and the
 * connection goes to one of those addresses, so that a second lookup cannot lead elsewhere; TLS and `Host` stay the name's. No proxy of
 * the environment, no cookie and no credential of the machine is used. Never throws.
 */
export type GuardedFetch = (request: EgressRequest) => Promise<EgressResult>;

const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_MAX_BODY_BYTES = 1024 * 1024;
const DEFAULT_MAX_REDIRECTS = 5;
const DEFAULT_AT_ONCE = 32;

type Settings = Required<Pick<GuardedFetchOptions, "resolve" | "ownAddresses">> & { ca: string | undefined };

export function createGuardedFetch(options: GuardedFetchOptions): GuardedFetch {
  const { clock, atOnce = DEFAULT_AT_ONCE } = options;
  const settings: Settings = {
    resolve: options.resolve ?? systemResolve,
    ownAddresses: options.ownAddresses ?? systemAddresses,
    ca: options.ca,
  };
  let running = 0;

  return async (request) => {
    const first = checkRequest(request);
    if (!first.ok) {
      const { reason, host, detail } = first;
      return { outcome: "refused", reason, host, detail };
    }
    const { host } = first.checked.target;
    if (running >= atOnce) {
      return { outcome: "refused", reason: "busy", host, detail: `${atOnce} exchanges are running` };
    }
    running += 1;
    const { timeoutMs = DEFAULT_TIMEOUT_MS } = request;
    const stop = new AbortController();
    const timedOut = Promise.withResolvers<EgressResult>();
    const cancel = clock.after(timeoutMs, () => {
      timedOut.resolve({ outcome: "timeout", host, detail: `no whole answer within ${timeoutMs} ms` });
      stop.abort();
    });
    const onAbort = () => {
      timedOut.resolve({ outcome: "failed", code: "aborted", host, detail: "given up by the caller" });
      stop.abort();
    };
    request.signal?.addEventListener("abort", onAbort, { once: true });
    if (request.signal?.aborted) onAbort();
    try {
      // A lookup cannot be stopped, so that the end of time does not wait for it.
      return await Promise.race([timedOut.promise, follow(first.checked, request, settings, stop.signal)]);
    } finally {
      cancel();
      stop.abort();
      request.signal?.removeEventListener("abort", onAbort);
      running -= 1;
    }
  };
}

/** The exchange and what it redirects to, each judged afresh. */
async function follow(
  first: Checked,
  request: EgressRequest,
  settings: Settings,
  signal: AbortSignal,
): Promise<EgressResult> {
  const { maxRedirects = DEFAULT_MAX_REDIRECTS, maxBodyBytes = DEFAULT_MAX_BODY_BYTES } = request;
  let checked = first;
  let body = request.body;
  for (let redirects = 0;; redirects += 1) {
    const { host } = checked.target;
    const verdict = judgeHost(checked.target, request.allow);
    if (!verdict.allowed) {
      return { outcome: "refused", reason: verdict.reason, host, detail: verdict.detail };
    }
    const found = await findAddresses(checked.target, request.allow, settings);
    if (!found.ok) {
      const { ok: _, ...result } = found;
      return { ...result, host };
    }
    const answer = await exchange(checked, {
      addresses: found.addresses,
      body,
      maxBodyBytes,
      endsAtHeaders: (status, headers) => maxRedirects > 0 && locationOf(status, headers) !== undefined,
      ca: settings.ca,
      signal,
    });
    if (answer.outcome === "too_large") {
      const detail = `the answer's ${answer.what} of ${host} are over ${answer.limit} bytes`;
      return { ...answer, host, detail };
    }
    if (answer.outcome === "failed") return { ...answer, host, detail: `${host}: ${answer.detail}` };

    const location = maxRedirects > 0 ? locationOf(answer.status, answer.headers) : undefined;
    if (location === undefined) return { ...answer, url: checked.url.href, redirects };
    if (redirects === maxRedirects) {
      const detail = `${host} redirects once more after ${redirects} redirects`;
      return { outcome: "refused", reason: "too_many_redirects", host, detail };
    }
    const next = redirect(checked, answer.status, location);
    if (!next.ok) return { outcome: "refused", reason: next.reason, host: next.host, detail: next.detail };
    checked = next.checked;
    if (!next.keepsBody) body = undefined;
  }
}
