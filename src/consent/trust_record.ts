import { createHash } from "node:crypto";
import { z } from "zod";

/** One trusted value of a project file. */
export interface TrustedKey {
  /** Relative to the control folder. */
  file: string;
  /** In the operator's notation: `model.command`. */
  key: string;
  /** Of the value as it stands in the file. */
  sha256: string;
  /** Absolute path, sorted → the SHA-256 of its content in hex, or `-> FILE` for a link to a system's file. */
  code: Readonly<Record<string, string>>;
}

/** All that is trusted of one control folder. */
export interface TrustRecord {
  /** Absolute, symlinks followed. */
  folder: string;
  /** ISO 8601, UTC. */
  trustedAt: string;
  keys: readonly TrustedKey[];
}

const SHA256 = /^[0-9a-f]{64}$/;

const form = z.strictObject({
  folder: z.string().startsWith("/"),
  trusted_at: z.iso.datetime(),
  keys: z.array(z.strictObject({
    file: z.string(),
    key: z.string(),
    sha256: z.string().regex(SHA256),
    code: z.record(z.string(), z.string()),
  })),
});

/** What one element of the file says; undefined when it is not exactly of this form. Such an element trusts nothing. */
export function readTrustRecord(value: unknown): TrustRecord | undefined {
  const read = form.safeParse(value);
  if (!read.success) return undefined;
  const { folder, trusted_at: trustedAt, keys } = read.data;
  return { folder, trustedAt, keys };
}

/** The element of the file for a record. */
export function writeTrustRecord({ folder, trustedAt, keys }: TrustRecord): unknown {
  return { folder, trusted_at: trustedAt, keys };
}

/** The hash of a value of a configuration file: the order of keys in a mapping means nothing, all else does. */
export function valueHash(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(ordered(value)) ?? "null").digest("hex");
}

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1);
  // As pairs: a key such as `__proto__` would not stay in an object.
  return { map: entries.map(([key, part]) => [key, ordered(part)]) };
}
