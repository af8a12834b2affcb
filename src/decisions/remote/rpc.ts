import { HookFailure } from "../failure.ts";

/** The body of one call. */
export function requestBody(id: number, method: string, params: unknown): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method, params });
}

/**
 * The result of a response body: null or an object. Throws a HookFailure for an error member, another id, and whatever
 * is no JSON-RPC 2.0 answer. What the service says is repeated only as far as `error.message` goes, which may be cut.
 */
export function resultOf(body: string, id: number): object | null {
  if (body === "") throw new HookFailure("RemoteError", "the answer is empty");
  let answer: unknown;
  try {
    answer = JSON.parse(body);
  } catch {
    throw new HookFailure("RemoteError", "the answer is not JSON");
  }
  if (typeof answer !== "object" || answer === null || Array.isArray(answer)) {
    throw new HookFailure("RemoteError", "the answer is not one JSON-RPC object");
  }
  const own = answer as Readonly<Record<string, unknown>>;
  if (own["jsonrpc"] !== "2.0") throw new HookFailure("RemoteError", "the answer is not JSON-RPC 2.0");
  if (own["id"] !== id) throw new HookFailure("RemoteError", "the answer has the id of another call");
  if (Object.hasOwn(own, "error")) throw new HookFailure("RemoteError", errorText(own["error"]));
  if (!Object.hasOwn(own, "result")) {
    throw new HookFailure("RemoteError", "the answer has neither result nor error");
  }
  const { result } = own;
  if (typeof result !== "object" || Array.isArray(result)) {
    throw new HookFailure("RemoteError", "the result must be null or an object");
  }
  return result;
}

function errorText(error: unknown): string {
  if (typeof error !== "object" || error === null) return "the answer has an error member beside its result";
  const { code, message } = error as Readonly<Record<string, unknown>>;
  const number = typeof code === "number" ? ` ${code}` : "";
  const text = typeof message === "string" && message !== "" ? `: ${message}` : "";
  return `the service answered with error${number}${text}`;
}
