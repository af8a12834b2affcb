import { quote } from "../errors/quote.ts";
import type { Caller } from "./tokens.ts";
import { failure } from "./api_error.ts";

/** Longest name, and longest kind, in characters. */
export const LONGEST_NAME = 200;
export const LONGEST_KIND = 400;
export const EVENT_NAME = /^[A-Za-z0-9_.-]{1,200}$/;
const KIND = /^(http|mcp|webhook)((?::[A-Za-z0-9_.-]+)+)$/;
/** What only reyn itself publishes. */
const OWN = /^(builtin|composed|llm)(:|$)/i;
const FORMS = "http:<token>:<name>, mcp:<server>:<event> or webhook:<name>";

/**
 * The kind that an event of a caller has on the bus. Throws 403 for one that is not the caller's to send, 400 for one that is
 * none.
 */
export function eventKind({ name, kind }: { name?: string; kind?: string }, caller: Caller): string {
  if (name !== undefined) return granted(`http:${caller.name}:${name}`, caller);
  const written = kind ?? "";
  if (OWN.test(written)) {
    throw failure(
      403,
      "E_EVENT_KIND",
      "events of the kinds builtin:, composed: and llm: are reyn's own",
      `send \`name\`, which makes the kind http:${caller.name}:<name>`,
    );
  }
  const [, prefix, rest = ""] = KIND.exec(written) ?? [];
  const parts = rest.split(":").length - 1;
  if (prefix === undefined || written.length > LONGEST_KIND || (prefix !== "webhook" && parts < 2)) {
    const shown = written.length > LONGEST_KIND ? `a kind of ${written.length} characters` : quote(written);
    throw failure(400, "E_EVENT_KIND", `${shown} is not a kind of event that can be sent`, `write ${FORMS}`);
  }
  if (prefix === "http" && !written.startsWith(`http:${caller.name}:`)) {
    throw failure(
      403,
      "E_EVENT_KIND",
      "events of the kind http:<token>: are that token's own",
      `send \`name\`, which makes the kind http:${caller.name}:<name>`,
    );
  }
  return granted(written, caller);
}

function granted(kind: string, caller: Caller): string {
  if (caller.may(`emit:${kind}`)) return kind;
  throw failure(
    403,
    "E_HTTP_SCOPE",
    `the token lacks the scope emit:${kind}, or one that it begins with`,
    "`server.tokens` grants scopes",
  );
}
