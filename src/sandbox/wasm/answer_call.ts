import type { Answer } from "./plugin_child.ts";
import { type AskHead, type Denied, MOST_DENIED, MOST_TARGET } from "./protocol.ts";
import type { CallVariables } from "./variables.ts";

/** A request of a plugin's, with what its hook grants. */
export interface PluginRequest {
  url: string;
  method: string;
  headers: readonly (readonly [string, string])[];
  body?: Uint8Array;
  /** `true`: every public host; else those that are listed. */
  network: true | readonly string[];
  maxBodyBytes: number;
  signal: AbortSignal;
}

/** `refused`: by the grant, or because of where it leads; `failed`: it was tried. Both say why in one line that holds no path and no content. */
export type RequestOutcome =
  | { outcome: "ok"; status: number; headers: readonly (readonly [string, string])[]; body: Uint8Array }
  | { outcome: "refused"; host: string; reason: string }
  | { outcome: "failed"; reason: string };

export type SendRequest = (request: PluginRequest) => Promise<RequestOutcome>;

/** Answers what one call of a plugin asks of reyn. */
export interface Asked {
  answer(question: AskHead, body: Uint8Array): Promise<Answer> | Answer;
  readonly denied: readonly Denied[];
  readonly deniedMore: number;
  /** Ends what is under way for it. */
  abandon(): void;
}

export interface AskedOptions {
  variables: CallVariables;
  network: boolean | readonly string[];
  maxHttpBytes: number;
  send?: SendRequest;
  emit?: (name: string, values: Readonly<Record<string, number | boolean>>) => void;
}

/** Events for the audit log of one call. */
const MOST_EMITTED = 100;
const MOST_REASON = 300;

export function openAsked(options: AskedOptions): Asked {
  const { variables, network, send } = options;
  /** Made for the first request, which most calls do not make. */
  let ending: AbortController | undefined;
  const denied: Denied[] = [];
  let deniedMore = 0;
  let emitted = 0;
  const deny = (target: string, reason: string): Answer => {
    const cut = {
      axis: "network" as const,
      target: target.slice(0, MOST_TARGET),
      reason: reason.slice(0, MOST_REASON),
    };
    if (denied.length < MOST_DENIED) denied.push(cut);
    else deniedMore += 1;
    return { head: { ok: false, reason } };
  };
  const request = async (question: Extract<AskHead, { ask: "http" }>, body: Uint8Array): Promise<Answer> => {
    const isGranted = network === true || (network !== false && network.length > 0);
    if (!isGranted || !send) return deny(hostOf(question.url), "the hook is granted no network");
    ending ??= new AbortController();
    const result = await send({
      url: question.url,
      method: question.method,
      headers: question.headers,
      ...(body.length > 0 ? { body } : {}),
      network,
      maxBodyBytes: options.maxHttpBytes,
      signal: ending.signal,
    });
    switch (result.outcome) {
      case "ok":
        return { head: { ok: true, status: result.status, headers: result.headers }, body: result.body };
      case "refused":
        return deny(result.host, result.reason);
      case "failed":
        return { head: { ok: false, reason: result.reason } };
    }
  };
  return {
    answer(question, body) {
      switch (question.ask) {
        case "var_get": {
          const value = variables.get(question.name);
          return value ? { head: { ok: true }, body: value } : { head: { ok: false } };
        }
        case "var_set": {
          const problem = variables.set(question.name, question.remove ? undefined : body);
          return { head: problem === undefined ? { ok: true } : { ok: false, reason: problem } };
        }
        case "emit":
          emitted += 1;
          if (emitted > MOST_EMITTED) {
            return { head: { ok: false, reason: `it emitted more than ${MOST_EMITTED} events` } };
          }
          options.emit?.(question.name, question.values);
          return { head: { ok: true } };
        case "http":
          return request(question, body);
      }
    },
    denied,
    get deniedMore() {
      return deniedMore;
    },
    abandon: () => ending?.abort(new Error("the call has ended")),
  };
}

/** The host alone: a path or a query may hold what is nobody's business. */
function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return "an address that is none";
  }
}
