import { closeSync, constants, fstatSync, openSync, readFileSync, renameSync } from "node:fs";
import { ReynError } from "../errors/reyn_error.ts";
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
 * `<path>.damaged-<instant>`. Throws E_STATE_IO where a file is there and can be neither read nor put aside: a session that
 * went on without it would forget what is armed.
 */
export function loadPending(
  path: string,
  { now, opOf }: { now: number; opOf: (composer: string) => ComposerOp | undefined },
): LoadedPending {
  const decoded = peekPending(path, opOf);
  if (decoded === undefined) return NOTHING;
  if (decoded.ok) return { records: decoded.records, damaged: decoded.damaged, setAside: null };
  const aside = `${path}.damaged-${new Date(now).toISOString().replace(/[:.]/g, "-")}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    throw unusable(`${path} is damaged (${decoded.reason}) and cannot be put aside: ${codeOf(error)}`, error);
  }
  return { ...NOTHING, setAside: { path: aside, reason: decoded.reason } };
}

/** Reads the file and changes nothing; undefined where there is none. Throws E_STATE_IO where it cannot be read. */
export function peekPending(
  path: string,
  opOf: (composer: string) => ComposerOp | undefined,
): Decoded | undefined {
  const read = readWhole(path);
  if (read === undefined) return undefined;
  return "text" in read ? decodeFile(read.text, opOf) : { ok: false, reason: read.reason };
}

/** A pipe in its place is not waited for, and a link not followed: state of another folder is not ours. */
const READ = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

function readWhole(path: string): { text: string } | { reason: string } | undefined {
  let fd: number;
  try {
    fd = openSync(path, READ);
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT") return undefined;
    if (code === "ELOOP") return { reason: "it is a symlink" };
    if (code === "ENXIO") return { reason: "it is not a file" };
    throw unusable(`${path} cannot be read: ${code}`, error);
  }
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) return { reason: "it is not a file" };
    if (stats.size > LARGEST_FILE) return { reason: "it is too large" };
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(fd)) };
  } catch (error) {
    if (error instanceof TypeError) return { reason: "it is not UTF-8" };
    throw unusable(`${path} cannot be read: ${codeOf(error)}`, error);
  } finally {
    closeSync(fd);
  }
}

function unusable(message: string, cause: unknown): ReynError {
  const fix = "mend that, or move the file away: what is armed in it is lost then";
  return new ReynError("E_STATE_IO", message, { fix, cause });
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
