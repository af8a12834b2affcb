import { createHmac } from "node:crypto";

export interface SignedParts {
  key: string;
  /** Value of X-Request-Id. */
  id: string;
  /** Value of X-Reyn-Timestamp: seconds since 1970. */
  timestamp: number;
  body: string;
}

/** Value of X-Reyn-Signature: `v1=` and HMAC-SHA256, in hex, of `<id>.<timestamp>.<body>`. */
export function signature({ key, id, timestamp, body }: SignedParts): string {
  return `v1=${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("hex")}`;
}
