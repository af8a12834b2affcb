import { Buffer } from "node:buffer";
import type { CallContext } from "@extism/extism";
import { EXTISM_MODULE, MOST_RANDOM_BYTES, USER_MODULE } from "../abi.ts";
import { MOST_BODY_BYTES, MOST_HEADER_CHARACTERS, MOST_VARIABLE_BYTES } from "../limits.ts";
import { type AskHead, EMITTED_NAME, MOST_EMITTED_VALUES } from "../protocol.ts";
import { type ActiveCall, activeCall, type Live } from "./active_call.ts";

export type HostFunction = (context: CallContext, ...values: (number | bigint)[]) => number | bigint | void;

/** What the plugin said by the calls that set something, until the call ends. */
export interface Said {
  context: CallContext | undefined;
  output: { at: bigint; length: number } | undefined;
  error: bigint | undefined;
}

const INFO_LEVEL = 2;
/** Longest name of a variable, in characters. */
const MOST_NAME = 256;
const decoder = new TextDecoder();

/** The host's side of a plugin, in place of the SDK's own: each is counted, and what reaches out goes to reyn. */
export function hostFunctions(live: Live, said: Said): Record<string, Record<string, HostFunction>> {
  /** The call, with one more use of the host noted. */
  const spend = (context: CallContext): ActiveCall => {
    said.context = context;
    const call = activeCall(live);
    call.budget.spend();
    return call;
  };
  const bytesAt = (context: CallContext, at: unknown): Uint8Array | undefined =>
    typeof at === "bigint" ? context.read(at)?.bytes() : undefined;
  const textAt = (context: CallContext, at: unknown): string =>
    decoder.decode(bytesAt(context, at) ?? new Uint8Array());
  const store = (context: CallContext, bytes: Uint8Array): bigint => {
    activeCall(live).budget.allocate(bytes.length);
    return context.store(bytes);
  };
  const fail = (context: CallContext, reason: string) => void (said.error ??= context.store(reason));
  const log = (context: CallContext, at: unknown) => {
    const call = spend(context);
    call.budget.log(bytesAt(context, at) ?? "");
  };
  let status = 0;
  let headers: Record<string, string> = {};

  return {
    [EXTISM_MODULE]: {
      alloc(context, size) {
        activeCall(live).budget.allocate(Number(size));
        return context.alloc(BigInt(size ?? 0));
      },
      output_set(context, at, length) {
        said.context = context;
        const call = activeCall(live);
        const size = Number(length);
        if (typeof at !== "bigint" || size < 0 || BigInt(size) > context.length(at)) {
          throw new Error("output_set: not a block of that length");
        }
        if (call.head.outputBytes > 0 && size > call.head.outputBytes) {
          call.budget.exceed("output_limit", `its output is over ${call.head.outputBytes} bytes`);
        }
        said.output = { at, length: size };
      },
      error_set(context, at) {
        said.context = context;
        said.error = typeof at === "bigint" && at !== 0n ? at : undefined;
      },
      error_get: () => said.error ?? 0n,
      config_get(context, at) {
        const { head } = spend(context);
        const key = textAt(context, at);
        const value = Object.hasOwn(head.config, key) ? head.config[key] : undefined;
        return value === undefined ? 0n : store(context, Buffer.from(value));
      },
      var_get(context, at) {
        const call = spend(context);
        const name = textAt(context, at);
        if (name.length > MOST_NAME) return 0n;
        const answer = call.ask({ ask: "var_get", name });
        return answer.head.ok ? store(context, answer.body) : 0n;
      },
      var_set(context, at, valueAt) {
        const call = spend(context);
        const name = textAt(context, at);
        if (name.length > MOST_NAME) {
          return fail(context, `a variable's name has at most ${MOST_NAME} characters`);
        }
        const value = bytesAt(context, valueAt);
        if (value && value.length > MOST_VARIABLE_BYTES) {
          return fail(context, `its variables would hold more than ${MOST_VARIABLE_BYTES} bytes`);
        }
        const answer = call.ask({ ask: "var_set", name, remove: valueAt === 0n }, value);
        if (!answer.head.ok) fail(context, answer.head.reason ?? "the variable was not taken");
      },
      http_request(context, at, bodyAt) {
        const call = spend(context);
        status = 0;
        headers = {};
        const request = readRequest(textAt(context, at));
        if (!request) {
          call.budget.log("http_request: the request is not JSON with a url, or is too large");
          return 0n;
        }
        const body = bodyAt === 0n ? undefined : bytesAt(context, bodyAt);
        if (body && body.length > MOST_BODY_BYTES) {
          call.budget.log(`http_request: its body is over ${MOST_BODY_BYTES} bytes`);
          return 0n;
        }
        const answer = call.ask(request, body);
        if (!answer.head.ok) {
          call.budget.log(`http_request: ${answer.head.reason ?? "it failed"}`);
          return 0n;
        }
        status = answer.head.status ?? 0;
        headers = joined(answer.head.headers ?? []);
        return store(context, answer.body);
      },
      http_status_code: () => status,
      http_headers: (context) => store(context, Buffer.from(JSON.stringify(headers))),
      log_trace: (context, at) => log(context, at),
      log_debug: (context, at) => log(context, at),
      log_info: (context, at) => log(context, at),
      log_warn: (context, at) => log(context, at),
      log_error: (context, at) => log(context, at),
      get_log_level: () => INFO_LEVEL,
    },
    [USER_MODULE]: {
      log: (context, at) => log(context, at),
      emit(context, at) {
        const call = spend(context);
        const event = readEvent(textAt(context, at));
        if (!event) {
          return fail(
            context,
            "emit takes JSON {name, values?: {key: number or boolean}}, names in a-z 0-9 _ . -",
          );
        }
        const answer = call.ask(event);
        if (!answer.head.ok) fail(context, answer.head.reason ?? "the event was not taken");
      },
      now: (context) => BigInt(Math.floor(spend(context).now())),
      random(context, size) {
        const call = spend(context);
        const count = Number(size);
        if (!(count >= 0 && count <= MOST_RANDOM_BYTES)) {
          call.budget.log(`random gives at most ${MOST_RANDOM_BYTES} bytes`);
          return 0n;
        }
        return store(context, crypto.getRandomValues(new Uint8Array(count)));
      },
    },
  };
}

function readRequest(text: string): Extract<AskHead, { ask: "http" }> | undefined {
  const value = parsed(text);
  if (!value || typeof value["url"] !== "string") return undefined;
  const given: unknown = value["headers"] ?? value["header"] ?? {};
  const headers = isObject(given)
    ? Object.entries(given).map(([name, one]): [string, string] => [name, String(one)])
    : [];
  const method = typeof value["method"] === "string" ? value["method"] : "GET";
  if (value["url"].length > 16 * 1024 || method.length > 32 || headers.length > 100) return undefined;
  if (headers.some(([name, one]) => name.length > 1024 || one.length > 16 * 1024)) return undefined;
  if (headers.reduce((sum, [name, one]) => sum + name.length + one.length, 0) > MOST_HEADER_CHARACTERS) {
    return undefined;
  }
  return { ask: "http", url: value["url"], method, headers };
}

function readEvent(text: string): Extract<AskHead, { ask: "emit" }> | undefined {
  const value = parsed(text);
  const name = value?.["name"];
  const given: unknown = value?.["values"] ?? {};
  if (typeof name !== "string" || !EMITTED_NAME.test(name) || !isObject(given)) return undefined;
  const values: Record<string, number | boolean> = {};
  const entries = Object.entries(given);
  if (entries.length > MOST_EMITTED_VALUES) return undefined;
  for (const [key, one] of entries) {
    const fits = typeof one === "boolean" || (typeof one === "number" && Number.isFinite(one));
    if (!EMITTED_NAME.test(key) || !fits) return undefined;
    values[key] = one;
  }
  return { ask: "emit", name, values };
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function joined(headers: readonly (readonly [string, string])[]): Record<string, string> {
  const all = new Map<string, string>();
  for (const [name, value] of headers) {
    const before = all.get(name);
    all.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries(all);
}
