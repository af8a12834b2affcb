import { Buffer } from "node:buffer";
import {
  type BigIntStats,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  realpathSync,
  statSync,
} from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import path from "node:path";
import { errorCode } from "../adapter/executable.ts";
import { systemClock } from "../clock/clock.ts";

export type ListRead =
  | { status: "absent" }
  | { status: "read"; elements: readonly unknown[] }
  /** It is not to be believed: another's, open to others, or not a file. */
  | { status: "unsafe"; reason: string }
  /** It is ours and holds no JSON array. */
  | { status: "damaged"; reason: string };

export type Written = { ok: true } | { ok: false; reason: string };

/** Largest file that is read or written. */
const MAX_BYTES = 8 * 1024 * 1024;
/** A change time tells two contents apart only when the first stood for longer than this; one runtime tells it in seconds. */
const SETTLED_MS = 2_000n;

/** Tells whether a file is still the one that was read; undefined where it has not stood long enough to tell. Missing: `absent`. */
export function fileStamp(file: string): string | undefined {
  try {
    const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
    return stat ? stampOf(stat) : "absent";
  } catch {
    return undefined;
  }
}

function stampOf(stat: BigIntStats): string | undefined {
  const age = BigInt(Math.floor(systemClock.now())) - stat.ctimeNs / 1_000_000n;
  if (age < SETTLED_MS) return undefined;
  return [stat.dev, stat.ino, stat.uid, stat.mode, stat.size, stat.mtimeNs, stat.ctimeNs].join(":");
}

/** Reads the file if it is to be believed: a regular file of the account `uid` that nobody else may read or write. */
export function readListFile(file: string, uid: number): ListRead {
  let fd: number;
  try {
    // A FIFO would wait for its other end.
    fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT") return { status: "absent" };
    return { status: "unsafe", reason: `it cannot be read (${code})` };
  }
  try {
    // Asked of what was opened, not of the name, which may be given to another file in between.
    const stat = fstatSync(fd);
    if (!stat.isFile()) return { status: "unsafe", reason: "it is not a regular file" };
    if (stat.uid !== uid) return { status: "unsafe", reason: `it belongs to uid ${stat.uid}, not to ${uid}` };
    const mode = stat.mode & 0o7777;
    if ((mode & ~0o600) !== 0) {
      return { status: "unsafe", reason: `its mode is ${mode.toString(8).padStart(4, "0")}, not 0600` };
    }
    if (stat.size > MAX_BYTES) return { status: "damaged", reason: `it is larger than ${MAX_BYTES} bytes` };
    return parse(readFileSync(fd));
  } catch (error) {
    return { status: "unsafe", reason: `it cannot be read (${errorCode(error)})` };
  } finally {
    closeSync(fd);
  }
}

function parse(bytes: Uint8Array): ListRead {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    const value: unknown = text.trim() === "" ? [] : JSON.parse(text);
    return Array.isArray(value)
      ? { status: "read", elements: value }
      : { status: "damaged", reason: "it is not a JSON array" };
  } catch {
    return { status: "damaged", reason: "it is not JSON" };
  }
}

/** Whole or not at all, on disk before it comes back, for the account alone. Only under the lock. */
export async function writeListFile(file: string, text: string): Promise<Written> {
  if (Buffer.byteLength(text) > MAX_BYTES) {
    return { ok: false, reason: `it would be larger than ${MAX_BYTES} bytes` };
  }
  const target = realName(file);
  const partial = `${target}.new`;
  try {
    await mkdir(path.dirname(target), { recursive: true, mode: 0o700 });
    // What a writer that was killed left behind.
    await rm(partial, { force: true });
    const handle = await open(partial, "wx", 0o600);
    try {
      await handle.chmod(0o600);
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(partial, target);
    await syncFolder(path.dirname(target));
    return { ok: true };
  } catch (error) {
    await rm(partial, { force: true }).catch(() => undefined);
    return { ok: false, reason: `${target} cannot be written (${errorCode(error)})` };
  }
}

/** Renames a damaged file to a name beside it that was free; undefined where that is not possible. Only under the lock. */
export async function setAside(file: string, nowMs: number): Promise<string | undefined> {
  const target = realName(file);
  const stamp = new Date(nowMs).toISOString().replace(/[-:]|\.\d+/g, "");
  let aside = `${target}.damaged-${stamp}`;
  for (let n = 2; existsSync(aside); n++) aside = `${target}.damaged-${stamp}-${n}`;
  try {
    await rename(target, aside);
    await syncFolder(path.dirname(target));
    return aside;
  } catch {
    return undefined;
  }
}

/** Where the file really lies: a link to it stays a link. */
export function realName(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return path.resolve(file);
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
