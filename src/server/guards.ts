import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import type { ApiError } from "./api_error.ts";

const LONGEST_URL = 4096;

/**
 * What is wrong with a request before it is looked at any further. `names`: how the server may be asked besides addresses and
 * localhost; null over the control socket, which has no name.
 */
export function refusalOf(request: IncomingMessage, names: ReadonlySet<string> | null): ApiError | undefined {
  const { url = "", headers } = request;
  if (!url.startsWith("/")) return malformed("the request line names no path of this server");
  if (url.length > LONGEST_URL) {
    return {
      status: 414,
      code: "E_HTTP_TOO_LARGE",
      message: `the path is longer than ${LONGEST_URL} characters`,
    };
  }
  if (countOf(request, "host") > 1) return malformed("more than one Host");
  if (countOf(request, "authorization") > 1) return malformed("more than one Authorization");
  if (names && !isOwnHost(headers.host ?? "", names)) {
    return {
      status: 421,
      code: "E_HTTP_HOST",
      message: "this server is not called that",
      fix: "name it by its address, or declare the name in `server.hosts`",
    };
  }
  return foreignOrigin(request);
}

/**
 * A name that an attacker owns may be made to lead to this machine; an address cannot. So names are taken only when they
 * are known.
 */
function isOwnHost(host: string, names: ReadonlySet<string>): boolean {
  const [, bracketed, plain] = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]/@?#\s]+))(?::\d{1,5})?$/.exec(host) ?? [];
  if (bracketed !== undefined) return isIP(bracketed) === 6;
  if (plain === undefined) return false;
  const name = plain.toLowerCase().replace(/\.$/, "");
  return isIP(name) === 4 || name === "localhost" || names.has(name);
}

/** Browsers say where a page comes from. Pages of other origins may not ask, not even what changes nothing. */
function foreignOrigin({ headers }: IncomingMessage): ApiError | undefined {
  const site = headers["sec-fetch-site"];
  const { origin } = headers;
  const foreign = (site !== undefined && site !== "same-origin" && site !== "none") ||
    (origin !== undefined && origin !== `http://${headers.host}` && origin !== `https://${headers.host}`);
  if (!foreign) return undefined;
  return { status: 403, code: "E_HTTP_ORIGIN", message: "pages of other origins may not ask this server" };
}

function countOf({ rawHeaders }: IncomingMessage, name: string): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]?.toLowerCase() === name) count += 1;
  return count;
}

function malformed(message: string): ApiError {
  return { status: 400, code: "E_HTTP_REQUEST", message };
}
