import { Buffer } from "node:buffer";

/** Longest string of an event, in UTF-8 bytes, with the mark that says it was cut. */
export const MAX_STRING_BYTES = 1024;
/** Longest line of the log, in characters. An event above it is recorded as dropped. */
export const MAX_LINE_CHARS = 256 * 1024;

const CUT_MARK = "…";
const MAX_DEPTH = 6;
const THUNK_BYTES = 256;
const encoder = new TextEncoder();
const scratch = new Uint8Array(MAX_STRING_BYTES - Buffer.byteLength(CUT_MARK));

/** The value with every string cut to MAX_STRING_BYTES; the value itself when there is nothing to cut. */
export function boundStrings(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return boundString(value);
  if (typeof value !== "object" || value === null || depth >= MAX_DEPTH) return value;
  if (Array.isArray(value)) {
    const bounded = value.map((item) => boundStrings(item, depth + 1));
    return bounded.some((item, at) => item !== value[at]) ? bounded : value;
  }
  let copy: Record<string, unknown> | undefined;
  for (const [key, item] of Object.entries(value)) {
    const bounded = boundStrings(item, depth + 1);
    if (bounded === item) continue;
    copy ??= { ...value };
    copy[key] = bounded;
  }
  return copy ?? value;
}

export function boundString(text: string): string {
  // A UTF-16 unit is at most three bytes of UTF-8.
  if (text.length * 3 <= MAX_STRING_BYTES) return text;
  if (text.length <= MAX_STRING_BYTES && Buffer.byteLength(text) <= MAX_STRING_BYTES) return text;
  const { read } = encoder.encodeInto(text, scratch);
  return text.slice(0, read) + CUT_MARK;
}

/** Roughly what an event holds in memory while it is queued: bytes of its strings, a flat sum for the rest. */
export function estimateBytes(value: unknown, depth = 0): number {
  if (typeof value === "string") return 16 + value.length * 2;
  if (typeof value === "function") return THUNK_BYTES;
  if (typeof value !== "object" || value === null || depth >= MAX_DEPTH) return 16;
  let bytes = 48;
  for (const key in value) bytes += 16 + estimateBytes((value as Record<string, unknown>)[key], depth + 1);
  return bytes;
}
