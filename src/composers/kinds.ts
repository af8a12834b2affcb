import { didYouMean } from "../config/suggest.ts";
import { quote } from "../errors/quote.ts";
import { isSameSession, parseSessionRef, type SessionRef } from "../hooks/session_ref.ts";
import {
  hasSource,
  namespacedName,
  parseTarget,
  REACTION_POINTS,
  type ReactionPoint,
  REACTIONS,
} from "../points/reactions.ts";

/** What an input's `kind` names. `kind` is the form in which such events stand on the bus. */
export type InputKind =
  | { type: "builtin"; kind: string; point: ReactionPoint }
  /** An event that the model of a session emits; `own`: of this session. */
  | { type: "llm"; kind: string; own: boolean }
  | { type: "composed"; kind: string; name: string }
  /** Of a kind that anything outside may use: `mcp:<server>:<event>`, `http:<token>:<name>`. */
  | { type: "open"; kind: string; prefix: string };

export type KindResult = { ok: true; input: InputKind } | { ok: false; message: string; fix?: string };

/** Longest kind, in characters. */
const LONGEST_KIND = 400;
const UNFIT = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\s]/u;
const EVENT_NAME = /^[A-Za-z0-9_.-]{1,200}$/;
/** Prefixes that reyn gives a meaning of its own: a word close to one is a slip, not a kind from outside. */
const OWN_PREFIXES = ["builtin", "composed", "llm"];
/** Kinds that come in over HTTP and the control socket. */
export const SENT_PREFIXES: readonly string[] = ["http", "mcp", "webhook"];
/** Kinds from outside of which the form is known. */
const OPEN_FORMS: Readonly<Record<string, string>> = {
  mcp: "mcp:<server>:<event>",
  http: "http:<token>:<name>",
};

/** Reads an input's `kind` as written by the operator, for composers of the session `own`. */
export function parseKind(text: string, own: SessionRef): KindResult {
  const written = text.trim();
  if (written === "") return { ok: false, message: "names no event" };
  if (written.length > LONGEST_KIND) {
    return { ok: false, message: `is longer than ${LONGEST_KIND} characters` };
  }
  const target = parseTarget(written);
  if (target?.kind === "builtin") {
    return { ok: true, input: { type: "builtin", kind: namespacedName(target.point), point: target.point } };
  }
  if (target) return composed(target.name);
  const colon = written.indexOf(":");
  const prefix = colon === -1 ? "" : written.slice(0, colon).trim().toLowerCase();
  const rest = written.slice(colon + 1).trim();
  switch (prefix) {
    case "":
    case "builtin":
      return unknownPoint(written);
    case "composed":
      return { ok: false, message: "names no composed event", fix: "write composed:<name>" };
    case "llm":
      return llm(written, rest, own);
    default:
      return open(written, prefix, rest);
  }
}

/**
 * Why nothing in this version, or nothing at all, sends events of this kind; undefined where something does. Whether a
 * composer emits a composed event, or somebody may send one from outside, is not judged here.
 */
export function missingProducer(input: InputKind): string | undefined {
  switch (input.type) {
    case "builtin":
      if (hasSource(input.point)) return undefined;
      return `${input.point} is fired by ${
        REACTIONS[input.point].source
      }, which this version of reyn does not have yet`;
    case "llm":
      return input.own
        ? "such events are emitted with the tool emit_hook_event, which this version of reyn does not have yet"
        : "another session emits that, and no event of another session ever comes here; `llm:self:<name>` is this one";
    case "composed":
      return undefined;
    case "open":
      if (SENT_PREFIXES.includes(input.prefix)) return undefined;
      return `nothing in this version of reyn sends events of the kind ${input.prefix}:`;
  }
}

function composed(name: string): KindResult {
  if (UNFIT.test(name)) {
    return {
      ok: false,
      message: "the name of a composed event may hold no white space or control characters",
    };
  }
  return { ok: true, input: { type: "composed", kind: `composed:${name}`, name } };
}

function unknownPoint(written: string): KindResult {
  const word = written.slice(written.lastIndexOf(":") + 1);
  const fix = didYouMean(word, REACTION_POINTS) ??
    `one of ${REACTION_POINTS.join(", ")}, or llm:, composed:, mcp:, http: and what follows`;
  return { ok: false, message: `there is no event ${quote(written)}`, fix };
}

/** Split at the last colon: ids of sessions may hold some. */
function llm(written: string, rest: string, own: SessionRef): KindResult {
  const at = rest.lastIndexOf(":");
  const sid = rest.slice(0, Math.max(0, at)).trim();
  const name = rest.slice(at + 1).trim();
  if (sid === "" || !EVENT_NAME.test(name)) {
    const message = `${quote(written)} names no event of a session`;
    return {
      ok: false,
      message,
      fix: "write llm:self:<name> or llm:<session>:<name>; names are A-Z a-z 0-9 _ . -",
    };
  }
  const session = sid.toLowerCase() === "self" ? own : parseSessionRef(sid, own);
  const isOwn = isSameSession(session, own);
  const shown = session.agent === own.agent ? session.sid : `${session.agent}/${session.sid}`;
  return { ok: true, input: { type: "llm", kind: `llm:${shown}:${name}`, own: isOwn } };
}

function open(written: string, prefix: string, rest: string): KindResult {
  const near = didYouMean(prefix, OWN_PREFIXES);
  if (near !== undefined) return { ok: false, message: `there is no event ${quote(written)}`, fix: near };
  const form = Object.hasOwn(OPEN_FORMS, prefix) ? OPEN_FORMS[prefix] : undefined;
  const parts = rest.split(":");
  const whole = /^[a-z][a-z0-9_.-]*$/.test(prefix) && parts.every((part) => part !== "") && !UNFIT.test(rest);
  if (!whole || (form !== undefined && parts.length < 2)) {
    return {
      ok: false,
      message: `${quote(written)} is not the kind of an event`,
      fix: `write ${form ?? "<where it comes from>:<name>"}`,
    };
  }
  return { ok: true, input: { type: "open", kind: `${prefix}:${rest}`, prefix } };
}
