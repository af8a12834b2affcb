import { type Checked, checkUrl } from "./check_request.ts";
import type { EgressHeaders, RefusalReason } from "./result.ts";

/** Headers that say nothing about who asks; all others stay behind when a redirect leads to another origin. */
const HARMLESS: ReadonlySet<string> = new Set(["accept", "accept-language", "accept-encoding", "user-agent"]);

export type Redirected =
  | { ok: true; checked: Checked; keepsBody: boolean }
  | { ok: false; reason: RefusalReason; host: string; detail: string };

/** The place that an answer sends on to; undefined when it is an answer of its own. */
export function locationOf(status: number, headers: EgressHeaders): string | undefined {
  if (![301, 302, 303, 307, 308].includes(status)) return undefined;
  return headers.find(([name]) => name === "location")?.[1];
}

/** The request that follows a redirect, as the Fetch standard has it, but stricter about what goes to another origin. */
export function redirect(from: Checked, status: number, location: string): Redirected {
  const found = checkUrl(location, from.url);
  const host = from.target.host;
  if (!found.ok) return { ok: false, reason: "bad_url", host, detail: `${host} redirects: ${found.problem}` };
  const { url, target } = found;
  if (from.url.protocol === "https:" && url.protocol !== "https:") {
    const detail = `${host} redirects from https to http`;
    return { ok: false, reason: "redirect_downgrade", host: target.host, detail };
  }
  const keepsBody = status === 307 || status === 308 ||
    (status !== 303 && from.method !== "POST") || from.method === "HEAD";
  const method = keepsBody || from.method === "GET" ? from.method : "GET";
  const isSameOrigin = url.origin === from.url.origin;
  const headers = from.headers.filter(([name]) => {
    if (name.startsWith("content-")) return keepsBody;
    return isSameOrigin || HARMLESS.has(name);
  });
  return { ok: true, checked: { url, target, method, headers }, keepsBody };
}
