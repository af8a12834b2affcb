import { domainToASCII } from "node:url";
import { quote } from "../errors/quote.ts";
import { type Address, classify, isIn, type Network, parseAddress, parseNetwork } from "./address.ts";
import { isPortOfAnotherProtocol } from "./ports.ts";
import type { RefusalReason } from "./result.ts";

/** Where requests may go: `true` is every public host. */
export type Allow = true | readonly AllowedHost[];

/** One entry of a list of hosts; without `port`, any. */
export type AllowedHost =
  & { port: number | undefined }
  & (
    | { kind: "name"; name: string }
    /** `.example.com`: every name that ends in it. */
    | { kind: "suffix"; suffix: string }
    | { kind: "network"; network: Network }
  );

export type ParsedHost = { ok: true; host: AllowedHost } | { ok: false; problem: string };

const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

/**
 * Reads an entry: `example.com`, `*.example.com` (not example.com itself), an address, a network `10.0.0.0/8`, each with `:port` or
 * without (IPv6 in brackets then, `[::1]:8080`). A name lets in its public addresses only; one that is not public has to be on the list itself
 * beside it. `localhost` lets in loopback addresses too.
 */
export function parseAllowedHost(text: string): ParsedHost {
  const wrong = (problem: string): ParsedHost => ({ ok: false, problem: `${quote(text)}: ${problem}` });
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return wrong("write the host alone, without http:// and path");
  if (/[@\s%?#\\]/.test(text)) return wrong("must be a host, or a host and a port");
  if (text === "*") return wrong("write `network: true` for all public hosts");

  const bare = parseNetwork(text);
  if (bare) return { ok: true, host: { kind: "network", network: bare, port: undefined } };
  const [, host = "", digits] = /^(\[[^\]]*\]|[^:[\]]*)(?::(\d{1,5}))?$/.exec(text) ?? [];
  if (host === "") return wrong("must be a host, or a host and a port");
  const port = digits === undefined ? undefined : Number(digits);
  if (port !== undefined && (port < 1 || port > 65_535)) return wrong("the port must be 1 to 65535");

  const network = parseNetwork(host.replace(/^\[(.*)\]$/, "$1"));
  if (network) return { ok: true, host: { kind: "network", network, port } };
  if (host.includes("[") || host.includes("/")) {
    return wrong("must be an address, or a network whose bits behind the prefix are 0");
  }

  const isWildcard = host.startsWith("*.");
  const name = domainToASCII(withoutDot(isWildcard ? host.slice(2) : host)).toLowerCase();
  const labels = name.split(".");
  if (name.includes("*")) return wrong('a "*" may only stand alone at the front, as in "*.example.com"');
  if (name.length > 253 || !labels.every((label) => LABEL.test(label))) return wrong("is not a host name");
  // What ends in a number is an address to a URL, never a name.
  if (/^(\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? "")) {
    return wrong("write an IPv4 address as four decimal numbers");
  }
  return {
    ok: true,
    host: isWildcard ? { kind: "suffix", suffix: `.${name}`, port } : { kind: "name", name, port },
  };
}

/** A name, one dot at its end taken off: with it, it is the same name. */
export function withoutDot(name: string): string {
  return name.endsWith(".") ? name.slice(0, -1) : name;
}

export interface Target {
  /** A name in ASCII and lower case without a dot at its end, or an address. */
  host: string;
  port: number;
}

export type Verdict = { allowed: true } | { allowed: false; reason: RefusalReason; detail: string };

const ALLOWED: Verdict = { allowed: true };

/** Whether a host may be asked at all: decided before its name is looked up, so that a lookup tells nobody anything. */
export function judgeHost({ host, port }: Target, allow: Allow): Verdict {
  const address = parseAddress(host);
  const entries = allow === true ? [] : allow.filter((item) => matches(item, host, address, port));
  if (allow !== true && entries.length === 0) {
    return no("host_not_listed", `${hostAndPort(host, port)} is not among the hosts of \`network\``);
  }
  if (isPortOfAnotherProtocol(port) && entries.every((item) => item.port === undefined)) {
    return no(
      "port_refused",
      `port ${port} is another protocol's; list ${hostAndPort(host, port)} to allow it`,
    );
  }
  return ALLOWED;
}

/** Whether an address of that host may be connected to. `own` are this machine's addresses. */
export function judgeAddress(
  { host, port }: Target,
  address: Address,
  shown: string,
  allow: Allow,
  own: readonly Address[],
): Verdict {
  const listed = allow === true ? [] : allow;
  if (listed.some((item) => item.kind === "network" && matches(item, "", address, port))) return ALLOWED;
  const kind = classify(address);
  if (
    kind === "loopback" && isLocalhost(host) && listed.some((item) => matches(item, host, undefined, port))
  ) {
    return ALLOWED;
  }
  const isOwn = own.some((mine) => isIn(mine, { bytes: address, bits: address.length * 8 }));
  if (kind === "public" && !isOwn) return ALLOWED;
  const what = kind === "public" ? "this machine's own" : kind.replace("_", "-");
  const named = host === shown ? shown : `${host} is ${shown}, which`;
  return no("address_refused", `${named} is a ${what} address; list ${shown} in \`network\` to allow it`);
}

function matches(item: AllowedHost, host: string, address: Address | undefined, port: number): boolean {
  if (item.port !== undefined && item.port !== port) return false;
  switch (item.kind) {
    case "name":
      return address === undefined && host === item.name;
    case "suffix":
      return address === undefined && host.endsWith(item.suffix) && host.length > item.suffix.length;
    case "network":
      return address !== undefined && isIn(address, item.network);
  }
}

function isLocalhost(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost");
}

function hostAndPort(host: string, port: number): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

function no(reason: RefusalReason, detail: string): Verdict {
  return { allowed: false, reason, detail };
}
