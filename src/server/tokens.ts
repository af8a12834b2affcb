import { createHash, timingSafeEqual } from "node:crypto";
import { ReynError } from "../errors/reyn_error.ts";
import { grantsScope, LOCAL_NAME, type Scope, type TokenConfig } from "../runtime/serve_section.ts";

/** Who asks. */
export interface Caller {
  /** Of the token; `local` over the control socket. */
  name: string;
  /** How records name what it answers on: `http:<token>`, or `socket`. */
  surface: string;
  may(scope: Scope): boolean;
}

export type Need = Scope;

export const LOCAL: Caller = { name: LOCAL_NAME, surface: "socket", may: () => true };

export interface Tokens {
  /** Whose token an Authorization header holds; undefined for none or a wrong one. */
  callerOf(authorization: string | undefined): Caller | undefined;
  readonly declared: boolean;
}

/** Shorter ones can be guessed. */
const SHORTEST = 16;
const LONGEST_HEADER = 4096;

/** Reads the tokens from the environment. Throws E_SERVER_TOKENS for one that is missing, too short, or there twice. */
export function readTokens(
  configs: readonly TokenConfig[],
  env: Readonly<Record<string, string | undefined>>,
): Tokens {
  const known: { digest: Uint8Array; caller: Caller }[] = [];
  const holders = new Map<string, string>();
  for (const { name, env: variable, scopes } of configs) {
    const token = env[variable]?.trim() ?? "";
    if (token === "") {
      throw new ReynError("E_SERVER_TOKENS", `server.tokens: ${variable}, the token of ${name}, is not set`, {
        fix: `set ${variable} in the environment of \`reyn serve\``,
      });
    }
    if (token.length < SHORTEST) {
      throw new ReynError(
        "E_SERVER_TOKENS",
        `server.tokens: the token in ${variable} has fewer than ${SHORTEST} characters`,
        { fix: "make one with `openssl rand -hex 32`" },
      );
    }
    const digest = digestOf(token);
    const key = [...digest].join();
    const other = holders.get(key);
    if (other !== undefined) {
      throw new ReynError("E_SERVER_TOKENS", `server.tokens: ${other} and ${name} hold the same token`);
    }
    holders.set(key, name);
    known.push({
      digest,
      caller: { name, surface: `http:${name}`, may: (scope) => grantsScope(scopes, scope) },
    });
  }
  return {
    declared: known.length > 0,
    callerOf(authorization) {
      if (authorization === undefined || authorization.length > LONGEST_HEADER) return undefined;
      const [, token] = /^bearer +(\S+)$/i.exec(authorization) ?? [];
      if (token === undefined) return undefined;
      const digest = digestOf(token);
      let found: Caller | undefined;
      // All are compared, so that the time tells nothing.
      for (const one of known) if (timingSafeEqual(one.digest, digest)) found = one.caller;
      return found;
    },
  };
}

function digestOf(token: string): Uint8Array {
  return createHash("sha256").update(token).digest();
}
