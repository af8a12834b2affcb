import { createHash } from "node:crypto";
import { DEFAULT_KEY } from "./composer.ts";

/** Longest key kept as it is, in UTF-16 units. */
const LONGEST_KEY = 256;
const KEPT_OF_LONGER = 180;

/**
 * The key that an event counts for: the field's value as text, so that 1 and "1" are one key; lists and maps as JSON;
 * `__default__` where the field is absent or null. A longer text is cut, and told apart by a hash of the whole.
 */
export function correlationKey(field: string | null, payload: Readonly<Record<string, unknown>>): string {
  if (field === null) return DEFAULT_KEY;
  const value = payload[field];
  if (value === undefined || value === null || !Object.hasOwn(payload, field)) return DEFAULT_KEY;
  const text = typeof value === "string" ? value : textOf(value);
  if (text.length <= LONGEST_KEY) return text;
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 32);
  return `${text.slice(0, KEPT_OF_LONGER)}…${hash}`;
}

function textOf(value: unknown): string {
  if (typeof value === "number" || typeof value === "boolean" || typeof value === "bigint") {
    return String(value);
  }
  return JSON.stringify(value) ?? DEFAULT_KEY;
}
