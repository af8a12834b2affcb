import type { Clock } from "../../clock/clock.ts";
import type { RemoteTarget } from "../declaration.ts";
import type { Executor, Question } from "../executor.ts";
import { HookFailure } from "../failure.ts";
import { breaker } from "./breaker.ts";
import { openExchange } from "./exchange.ts";
import { requestBody, resultOf } from "./rpc.ts";
import { signature } from "./sign.ts";

/** Largest body of an answer, in bytes, decompressed. */
export const MAX_ANSWER_BYTES = 1024 * 1024;

const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]+$/;
const MASK = "***";
/** Shorter values would mask half of every text. */
const SHORTEST_SECRET = 4;

export interface RemoteOptions {
  clock: Clock;
  /** Looked up at each call. */
  env(name: string): string | undefined;
}

/**
 * Asks a service over HTTP: one JSON-RPC 2.0 POST a call, ids counted from 1. Redirects are not followed and are failures,
 * as is all but 2xx. The question's limit covers the whole exchange.
 */
export function remoteExecutor(target: RemoteTarget, { clock, env }: RemoteOptions): Executor {
  const guard = target.breaker && breaker(target.breaker, clock);
  const service = openExchange();
  let calls = 0;
  const running = new Set<AbortController>();

  async function exchange(question: Question): Promise<object | null> {
    const token = secretOf(target.tokenEnv, env);
    const key = secretOf(target.signEnv, env);
    if (token !== null && !HEADER_VALUE.test(token)) {
      throw new HookFailure(
        "RemoteError",
        `the value of ${target.tokenEnv} cannot stand in a header; nothing was sent`,
      );
    }
    if (guard && !guard.mayCall()) {
      throw new HookFailure("Unreachable", "the service failed too often and is not asked for now");
    }
    const abort = new AbortController();
    running.add(abort);
    const cancel = clock.after(question.limitMs, () => abort.abort());
    try {
      const id = ++calls;
      const body = requestBody(id, question.point, question.context);
      const headers = headersOf(question, body, { token, key });
      const sent = {
        method: "POST",
        headers,
        body,
        signal: abort.signal,
        maxBytes: MAX_ANSWER_BYTES,
      } as const;
      const { status, text } = await service.send(target.target, sent);
      if (status < 200 || status > 299) {
        const redirect = status >= 300 && status < 400 ? "; redirects are not followed" : "";
        throw new HookFailure("RemoteError", `the service answered with HTTP ${status}${redirect}`);
      }
      const result = resultOf(text, id);
      guard?.succeeded();
      return result;
    } catch (error) {
      guard?.failed();
      throw masked(error, [token, key, ...Object.values(target.headers)]);
    } finally {
      cancel();
      running.delete(abort);
    }
  }

  function headersOf(
    { id }: Question,
    body: string,
    { token, key }: { token: string | null; key: string | null },
  ): Record<string, string> {
    const headers: Record<string, string> = {
      ...target.headers,
      "content-type": "application/json",
      accept: "application/json",
      "x-request-id": id,
    };
    if (token !== null) headers["authorization"] = `Bearer ${token}`;
    if (key !== null) {
      const timestamp = Math.floor(clock.now() / 1000);
      headers["x-reyn-timestamp"] = String(timestamp);
      headers["x-reyn-signature"] = signature({ key, id, timestamp, body });
    }
    return headers;
  }

  return {
    ask: exchange,
    close() {
      for (const abort of running) abort.abort();
      service.close();
      return Promise.resolve();
    },
  };
}

/** The value of a variable that has to be set; null where none is named. */
function secretOf(name: string | null, env: RemoteOptions["env"]): string | null {
  if (name === null) return null;
  const value = env(name);
  if (!value) throw new HookFailure("RemoteError", `the variable ${name} is not set; nothing was sent`);
  return value;
}

/** What a service says about a failure may repeat what it was sent. */
function masked(error: unknown, secrets: readonly (string | null)[]): unknown {
  if (!(error instanceof HookFailure)) return error;
  let { message } = error;
  for (const secret of secrets) {
    if (secret !== null && secret.length >= SHORTEST_SECRET) message = message.replaceAll(secret, MASK);
  }
  return message === error.message ? error : new HookFailure("RemoteError", message);
}
