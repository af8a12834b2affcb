import { type AllowedHost, parseAllowedHost } from "../egress/allow.ts";
import type { GuardedFetch } from "../egress/guarded_fetch.ts";
import type { SendRequest } from "../sandbox/wasm/answer_call.ts";

/** Longest exchange of a plugin, redirects included; the hook's own time may end it before. */
const LONGEST_MS = 30_000;

/** Sends the requests of plugins, each only where its hook's `network` lets it go. */
export function sendForPlugins(fetch: GuardedFetch): SendRequest {
  return async ({ network, maxBodyBytes, signal, url, method, headers, body }) => {
    const allow = network === true ? true : allowedHosts(network);
    const result = await fetch({
      url,
      method,
      headers,
      ...(body ? { body } : {}),
      allow,
      timeoutMs: LONGEST_MS,
      maxBodyBytes,
      signal,
    });
    switch (result.outcome) {
      case "ok":
        return { outcome: "ok", status: result.status, headers: result.headers, body: result.body };
      case "refused":
        return { outcome: "refused", host: result.host, reason: `${result.reason}: ${result.detail}` };
      case "failed":
      case "timeout":
      case "too_large":
        return { outcome: "failed", reason: result.detail };
    }
  };
}

/** What a list in a hook's `network` lets through. An entry that is none was reported when the hook was loaded, and lets nothing through. */
function allowedHosts(network: readonly string[]): AllowedHost[] {
  return network.flatMap((text) => {
    const parsed = parseAllowedHost(text);
    return parsed.ok ? parsed.host : [];
  });
}
