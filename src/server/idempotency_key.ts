import { failure } from "./api_error.ts";

const KEY = /^[\x21-\x7e]{1,200}$/;

/** The `Idempotency-Key` of a request, if it has one. Throws 400 for one that cannot be. */
export function idempotencyKey(header: (name: string) => string | undefined): string | undefined {
  const key = header("idempotency-key");
  if (key === undefined || KEY.test(key)) return key;
  throw failure(
    400,
    "E_HTTP_REQUEST",
    "Idempotency-Key has to be 1 to 200 visible ASCII characters without spaces",
  );
}
