/** Why a request, or one of its redirects, was not sent. */
export type RefusalReason =
  /** Not an absolute http or https URL, or one with a user, a password or a zone in it. */
  | "bad_url"
  /** A method that is not one of `METHODS`. */
  | "bad_method"
  /** A header that is malformed, too many or too long, or that belongs to the connection. */
  | "bad_header"
  /** The host is not on the list. */
  | "host_not_listed"
  /** A port of another protocol, to which a request could speak in disguise. */
  | "port_refused"
  /** The host is, or its name resolves to, an address that is not public and not on the list. */
  | "address_refused"
  /** A redirect from https to http. */
  | "redirect_downgrade"
  | "too_many_redirects"
  /** The request's body is over its limit. */
  | "request_too_large"
  /** As many exchanges as may run at once are running. */
  | "busy";

export type FailureCode =
  /** The name has no address, or could not be looked up. */
  | "dns"
  /** No connection came about. */
  | "connect"
  /** No TLS came about: mostly a certificate that is not valid for the name. */
  | "tls"
  /** The answer is not HTTP/1.1, or broke off. */
  | "protocol"
  /** The caller's signal was aborted. */
  | "aborted";

export type EgressHeaders = readonly (readonly [name: string, value: string])[];

/**
 * What came of an exchange. `detail` is one line for the operator: it names hosts and addresses, never a path, a query, a header or a
 * body, and is safe to print.
 */
export type EgressResult =
  | {
    outcome: "ok";
    status: number;
    /** Names in lower case, in the order in which they came. */
    headers: EgressHeaders;
    /** As it came: never decompressed. */
    body: Uint8Array;
    /** Where the answer came from, after `redirects` redirects. */
    url: string;
    redirects: number;
  }
  | { outcome: "refused"; reason: RefusalReason; host: string; detail: string }
  | { outcome: "failed"; code: FailureCode; host: string; detail: string }
  | { outcome: "timeout"; host: string; detail: string }
  | { outcome: "too_large"; what: "headers" | "body"; limit: number; host: string; detail: string };

export type Refused = Extract<EgressResult, { outcome: "refused" }>;
