import { z } from "zod";
import { authority } from "../config/authority.ts";
import { envName, expecting, nonBlank } from "../config/scalars.ts";
import { valueSection } from "../config/section.ts";
import { quote } from "../errors/quote.ts";

/** What a token may do. `emit:<prefix>` publishes events whose kind begins with the prefix. */
export const SCOPES = ["observe", "send", "consent", "admin"] as const;
export type Scope = (typeof SCOPES)[number] | `emit:${string}`;

export interface TokenConfig {
  name: string;
  /** The variable that holds the token. */
  env: string;
  scopes: readonly Scope[];
}

export interface ServerConfig {
  host: string;
  /** 0: any that is free. */
  port: number;
  /** Names, besides addresses and `localhost`, by which the server may be asked. */
  hosts: readonly string[];
  tokens: readonly TokenConfig[];
}

const DEFAULT_PORT = 8420;
/** Stands for "some scope to publish events", whatever its prefix; no scope that is declared is spelt so. */
export const ANY_EMIT = "emit:<prefix>";
/** Whoever asks over the control socket. */
export const LOCAL_NAME = "local";
/** Kinds of events that come from outside, besides those of the caller's own token. */
const OUTSIDE = ["mcp:", "webhook:"];

/** What stands in for a section that is refused; nothing starts then. */
export const NO_SERVER: ServerConfig = { host: "127.0.0.1", port: 0, hosts: [], tokens: [] };

const TOKEN_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const EMIT = /^[A-Za-z0-9_.:-]{1,128}$/;
const HOST_NAME = /^[A-Za-z0-9]([A-Za-z0-9.-]{0,252}[A-Za-z0-9])?$/;

const scopeForms = `must be ${SCOPES.join(", ")} or emit:<prefix>`;
const scope = z.union([z.enum(SCOPES), z.templateLiteral(["emit:", z.string().regex(EMIT)])], {
  error: expecting(scopeForms),
});

const token = z.strictObject({
  name: z.string().regex(TOKEN_NAME, { error: expecting("must be letters, digits, - and _, at most 64") })
    .meta({ description: "Who comes with it; part of the ids of messages." }),
  env: envName().meta({ description: "The variable that holds the token." }),
  scopes: z.array(scope).min(1, { error: "names no scope" }).meta({ description: "What it may do." }),
});

const schema = z.strictObject({
  host: authority(nonBlank().default("127.0.0.1")).meta({
    description: "The address to listen on; another than the machine itself needs tokens.",
  }),
  port: authority(
    z.number({ error: expecting("must be a port, 0 for any that is free") }).int().min(0).max(65535).default(
      DEFAULT_PORT,
    ),
  ).meta({ description: "The port to listen on; 0: any that is free." }),
  hosts: authority(
    z.array(z.string().regex(HOST_NAME, { error: expecting("must be the name of a host, without a port") }))
      .default([]),
  ).meta({ description: "Names by which the server may be asked, besides addresses and localhost." }),
  tokens: authority(z.array(token).default([])).meta({
    description: "Who may ask over TCP. Without a token only /healthz and /readyz answer.",
  }),
}).prefault({});

/** `server:`. Every key needs the operator's word. */
export const serverSection = valueSection<z.output<typeof schema>, ServerConfig>({
  key: "server",
  schema,
  compile(value, context) {
    const names = new Map<string, number>();
    value.tokens.forEach(({ name, scopes }, index) => {
      if (name === LOCAL_NAME) {
        context.report(
          ["tokens", index, "name"],
          "E_SERVER_TOKENS",
          `${quote(name)} is the name of whoever asks over the control socket`,
          "give the token another name",
        );
      }
      scopes.forEach((scope, at) => {
        if (!scope.startsWith("emit:") || mayMatch(scope.slice("emit:".length), name)) return;
        context.report(
          ["tokens", index, "scopes", at],
          "E_SERVER_TOKENS",
          `no event that this token can send begins with ${quote(scope.slice("emit:".length))}`,
          `its own are emit:http:${name}:<name>; others are emit:mcp:<server>: and emit:webhook:`,
        );
      });
      const first = names.get(name);
      if (first === undefined) names.set(name, index);
      else {
        context.report(
          ["tokens", index, "name"],
          "E_SERVER_TOKENS",
          `the name ${quote(name)} is taken by tokens[${first}]`,
        );
      }
    });
    if (!isLoopback(value.host) && value.tokens.length === 0) {
      context.report(
        ["host"],
        "E_SERVER_TOKENS",
        `${value.host} can be reached from other machines, and no tokens are declared`,
        "declare `server.tokens`, or listen on 127.0.0.1",
      );
    }
    return value;
  },
});

/** Whether scopes grant one; `emit:a` grants every kind that begins with `a`. */
export function grantsScope(scopes: readonly Scope[], wanted: Scope): boolean {
  if (wanted === ANY_EMIT) return scopes.some((scope) => scope.startsWith("emit:"));
  return scopes.some((scope) => scope === wanted || (scope.startsWith("emit:") && wanted.startsWith(scope)));
}

/** Whether somebody may send events of that kind over HTTP or, as `http:local:…`, over the control socket. */
export function isSent(kind: string, tokens: readonly TokenConfig[]): boolean {
  if (kind.startsWith(`http:${LOCAL_NAME}:`)) return true;
  return tokens.some(({ name, scopes }) =>
    (!kind.startsWith("http:") || kind.startsWith(`http:${name}:`)) && grantsScope(scopes, `emit:${kind}`)
  );
}

/** Whether any kind that a token of that name can send begins with the prefix. */
function mayMatch(prefix: string, token: string): boolean {
  return [`http:${token}:`, ...OUTSIDE].some((start) =>
    start.startsWith(prefix) || (prefix.startsWith(start) && !/::/.test(prefix.slice(start.length - 1)))
  );
}

/** Whether only the machine itself can reach that address. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}
