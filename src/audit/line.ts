import { Buffer } from "node:buffer";
import { crc32 } from "node:zlib";
import type { AuditEvent } from "./audit.ts";

/**
 * The format of one line of the audit log: a JSON object whose last member is `crc`.
 *
 *     {"id":…,"type":…,"timestamp":…,"session":…,"data":{…},"crc":"xxxxxxxx"}
 *
 * `crc` is the CRC-32 (zlib's polynomial), as 8 lower-case hex digits, of the line's UTF-8 bytes with
 * `,"crc":"xxxxxxxx"` taken out, that is: of the same object as it was before the member was added. The newline
 * behind the line is not part of it.
 */
const CRC_BYTES = ',"crc":"xxxxxxxx"'.length;
const CRC_TAIL = /^,"crc":"([0-9a-f]{8})"\}$/;
const CLOSING = Buffer.from("}");

export type DecodedLine =
  /** `at` is the timestamp in epoch milliseconds, `text` the line itself. */
  | { ok: true; event: AuditEvent; at: number; text: string }
  | { ok: false; reason: DamageReason };

/** no_crc: cut or foreign; crc: the bytes changed; json, shape: checksummed, but not an audit event. */
export type DamageReason = "no_crc" | "crc" | "json" | "shape";

/** One line without its newline. Throws what JSON.stringify throws on data that is not JSON. */
export function encodeLine({ id, type, timestamp, session, data }: AuditEvent): string {
  const body = JSON.stringify({ id, type, timestamp, session, data });
  const crc = crc32(body).toString(16).padStart(8, "0");
  return `${body.slice(0, -1)},"crc":"${crc}"}`;
}

/** Reads one line, given without its newline. */
export function decodeLine(line: Uint8Array): DecodedLine {
  const bytes = Buffer.from(line.buffer, line.byteOffset, line.byteLength);
  const bodyEnd = bytes.length - CRC_BYTES - 1;
  if (bodyEnd < 0) return { ok: false, reason: "no_crc" };
  const stored = CRC_TAIL.exec(bytes.toString("latin1", bodyEnd))?.[1];
  if (stored === undefined) return { ok: false, reason: "no_crc" };
  const computed = crc32(CLOSING, crc32(bytes.subarray(0, bodyEnd)));
  if (computed !== Number.parseInt(stored, 16)) return { ok: false, reason: "crc" };
  const text = bytes.toString("utf8");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, reason: "json" };
  }
  return checked(value, text) ?? { ok: false, reason: "shape" };
}

function checked(value: unknown, text: string): DecodedLine | null {
  if (!isRecord(value)) return null;
  const { id, type, timestamp, session, data } = value;
  if (typeof id !== "string" || typeof type !== "string" || typeof timestamp !== "string") return null;
  if ((session !== null && typeof session !== "string") || !isRecord(data)) return null;
  const at = Date.parse(timestamp);
  return Number.isNaN(at) ? null : { ok: true, event: { id, type, timestamp, session, data }, at, text };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
