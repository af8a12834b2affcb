import process from "node:process";
import { createHash, timingSafeEqual } from "node:crypto";

export interface Bearer {
  /** Name of the variable that holds the bearer token; read at each request. Default: no token is asked for. */
  tokenEnv?: string;
}

/** Whether an `Authorization` header may pass. A token variable that is unset or empty lets nobody pass. */
export function authorised({ tokenEnv }: Bearer, header: string | null | undefined): boolean {
  if (tokenEnv === undefined) return true;
  const token = process.env[tokenEnv];
  if (!token) return false;
  const given = /^Bearer +(.+)$/i.exec(header ?? "")?.[1] ?? "";
  // Of equal length whatever was sent, so that the comparison takes the same time.
  return timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}
