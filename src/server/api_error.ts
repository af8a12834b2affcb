import type { ErrorCode } from "../errors/catalogue.ts";
import { isReynError } from "../errors/reyn_error.ts";

/** What a caller is told of a request that fails. */
export interface ApiError {
  status: number;
  code: ErrorCode;
  message: string;
  fix?: string;
  /** Further response headers. */
  headers?: Readonly<Record<string, string>>;
}

/** Thrown by a route, and answered as it stands. */
export class HttpFailure extends Error {
  readonly error: ApiError;
  constructor(error: ApiError) {
    super(error.message);
    this.error = error;
  }
}

export function failure(status: number, code: ErrorCode, message: string, fix?: string): HttpFailure {
  return new HttpFailure({
    status,
    code,
    message,
    ...(fix === undefined ? {} : { fix }),
    ...laterOf(status),
  });
}

const STATUS: { readonly [code in ErrorCode]?: number } = {
  E_SESSION_UNKNOWN: 404,
  E_AGENT_UNKNOWN: 404,
  E_SESSION_NAME: 400,
  E_USAGE: 400,
  E_MESSAGE_TOO_LARGE: 413,
  E_MESSAGE_KEY: 422,
  E_INBOX_FULL: 429,
  E_EVENTS_FULL: 429,
  E_HOOK_POINT: 400,
  E_HOOK_NOT_YET: 400,
  E_STOPPING: 503,
  E_STATE_FULL: 503,
  E_STATE_UNWRITABLE: 503,
  E_STATE_IO: 503,
};

/** An unforeseen fault is told by its code alone: its text may hold anything. */
export function apiErrorOf(error: unknown): ApiError {
  if (error instanceof HttpFailure) return error.error;
  if (!isReynError(error)) {
    return { status: 500, code: "E_INTERNAL", message: "a fault in reyn itself; its log says more" };
  }
  const { code, message, fix } = error;
  const status = STATUS[code] ?? 500;
  return { status, code, message, ...(fix === undefined ? {} : { fix }), ...laterOf(status) };
}

/** What passes by itself may be tried again. */
function laterOf(status: number): Pick<ApiError, "headers"> {
  return status === 429 || status === 503 ? { headers: { "retry-after": "5" } } : {};
}

export function errorBody({ code, message, fix }: ApiError): string {
  return JSON.stringify({ error: { code, message, ...(fix === undefined ? {} : { fix }) } });
}

export function errorResponse(error: ApiError): Response {
  const headers = { ...error.headers, "content-type": "application/json", "cache-control": "no-store" };
  return new Response(errorBody(error), { status: error.status, headers });
}
