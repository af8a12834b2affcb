import { closeSync, fstatSync, openSync, readFileSync, renameSync } from "node:fs";
import type { ComposerOp, StoredRecord } from "./composer.ts";
import { type DamagedRecord, type Decoded, decodeFile } from "./pending_format.ts";

/** Largest file that is read, in bytes. */
const LARGEST_FILE = 1024 ** 3;

export interface LoadedPending {
  records: { id: string; record: StoredRecord }[];
  /** Records that could not be read and are left out. */
  damaged: DamagedRecord[];
  /** Where a file went that could not be read at all. */
  setAside: { path: string; reason: string } | null;
}

const NOTHING: LoadedPending = { records: [], damaged: [], setAside: null };

/**
 * Reads what a session left pending; nothing where there is no file. A file that cannot be used is renamed to
 * `<path>.damaged-<instant>`. Throws where a file is there and can be neither read nor put aside.
 */
export function loadPending(
  path: string,
  { now, opOf }: { now: number; opOf: (composer: string) => ComposerOp | undefined },
): LoadedPending {
  const decoded = peekPending(path, opOf);
  if (decoded === undefined) return NOTHING;
  if (decoded.ok) return { records: decoded.records, damaged: decoded.damaged, setAside: null };
  const aside = `${path}.damaged-${new Date(now).toISOString().replace(/[:.]/g, "-")}`;
  renameSync(path, aside);
  return { ...NOTHING, setAside: { path: aside, reason: decoded.reason } };
}

/** Reads the file and changes nothing; undefined where there is none. */
export function peekPending(
  path: string,
  opOf: (composer: string) => ComposerOp | undefined,
): Decoded | undefined {
  const read = readWhole(path);
  if (read === undefined) return undefined;
  return "text" in read ? decodeFile(read.text, opOf) : { ok: false, reason: read.reason };
}

function readWhole(path: string): { text: string } | { reason: string } | undefined {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    return { reason: `it cannot be read: ${codeOf(error)}` };
  }
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) return { reason: "it is not a file" };
    if (stats.size > LARGEST_FILE) return { reason: "it is too large" };
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(fd)) };
  } catch (error) {
    return { reason: error instanceof TypeError ? "it is not UTF-8" : `it cannot be read: ${codeOf(error)}` };
  } finally {
    closeSync(fd);
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
