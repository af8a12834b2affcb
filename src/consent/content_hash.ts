import { createHash } from "node:crypto";
import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { errorCode } from "../adapter/executable.ts";
import { systemClock } from "../clock/clock.ts";

/** What stands at a path. Only regular files have content that consent is bound to. */
export type FileContent =
  | { status: "file"; sha256: string; size: number }
  | { status: "none" }
  /** It is there, but what is in it cannot be told. */
  | { status: "refused"; reason: string };

export interface ContentHashes {
  /** The content where it is known without reading the file; undefined where it must be read. Looks at the file each time. */
  known(file: string): FileContent | undefined;
  /** The content, read in pieces between which other work runs. */
  read(file: string): Promise<FileContent>;
  /** The content, read at once: nothing else runs meanwhile. For a start, before there is anything else. */
  readNow(file: string): FileContent;
}

export interface ContentHashesOptions {
  /** Largest file that is read, in bytes. Default 256 MiB. */
  maxFileBytes?: number;
  /** Longest that one file is read, in milliseconds. Default 60 000. */
  maxReadMs?: number;
  /** Hashes that are remembered. Default 4096. */
  maxRemembered?: number;
}

const CHUNK_BYTES = 256 * 1024;
/** A file that changes under each reading is given up after so many. */
const MOST_READINGS = 3;
/**
 * A change time tells two contents apart only when the first has stood for longer than the clock's grain: one runtime tells it in whole
 * seconds. A file that changed more recently is read each time.
 */
const SETTLED_MS = 2_000n;

/**
 * SHA-256 of files, remembered by device, inode, size, modification time and change time. The change time is the one that no
 * program can set back, so a content that was swapped with size and modification time kept is seen.
 */
export function contentHashes(options: ContentHashesOptions = {}): ContentHashes {
  const { maxFileBytes = 256 * 1024 * 1024, maxReadMs = 60_000, maxRemembered = 4096 } = options;
  const remembered = new Map<string, FileContent>();
  const reading = new Map<string, Promise<FileContent>>();

  const readOnce = async (file: string): Promise<FileContent | undefined> => {
    // Neither a FIFO nor a device may make us wait.
    const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const before = await handle.stat({ bigint: true });
      if (!before.isFile()) return { status: "none" };
      if (before.size > BigInt(maxFileBytes)) return tooLarge(maxFileBytes);
      const settled = isSettled(before);
      const content = await hashOf(handle, maxFileBytes, maxReadMs);
      const id = identity(before);
      if (identity(await handle.stat({ bigint: true })) !== id) return undefined;
      if (settled && content.status === "file") remember(remembered, id, content, maxRemembered);
      return content;
    } finally {
      await handle.close();
    }
  };

  const readUntilStill = async (file: string): Promise<FileContent> => {
    try {
      for (let attempt = 0; attempt < MOST_READINGS; attempt++) {
        const content = await readOnce(file);
        if (content) return content;
      }
      return { status: "refused", reason: "it changes while it is read" };
    } catch (error) {
      return fromError(error);
    }
  };

  const known = (file: string): FileContent | undefined => {
    try {
      const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
      if (!stat?.isFile()) return { status: "none" };
      if (stat.size > BigInt(maxFileBytes)) return tooLarge(maxFileBytes);
      return remembered.get(identity(stat));
    } catch (error) {
      return fromError(error);
    }
  };

  return {
    known,
    read(file) {
      let key: string | undefined;
      try {
        const stat = statSync(file, { bigint: true });
        if (isSettled(stat)) key = identity(stat);
      } catch (error) {
        return Promise.resolve(fromError(error));
      }
      if (key === undefined) return readUntilStill(file);
      const id = key;
      const running = reading.get(id) ?? readUntilStill(file).finally(() => reading.delete(id));
      reading.set(id, running);
      return running;
    },
    readNow(file) {
      const content = known(file);
      if (content) return content;
      try {
        for (let attempt = 0; attempt < MOST_READINGS; attempt++) {
          const read = readWhole(file, maxFileBytes, maxReadMs);
          if (!read) continue;
          const { content, id, settled } = read;
          if (settled && content.status === "file") remember(remembered, id, content, maxRemembered);
          return content;
        }
        return { status: "refused", reason: "it changes while it is read" };
      } catch (error) {
        return fromError(error);
      }
    },
  };
}

/** Undefined where it changed meanwhile. */
function readWhole(file: string, maxBytes: number, maxMs: number) {
  const fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const before = fstatSync(fd, { bigint: true });
    const id = identity(before);
    const settled = isSettled(before);
    if (!before.isFile()) return { content: { status: "none" } as const, id, settled };
    const content = before.size > BigInt(maxBytes) ? tooLarge(maxBytes) : hashNow(fd, maxBytes, maxMs);
    return identity(fstatSync(fd, { bigint: true })) === id ? { content, id, settled } : undefined;
  } finally {
    closeSync(fd);
  }
}

function hashNow(fd: number, maxBytes: number, maxMs: number): FileContent {
  const until = systemClock.monotonic() + maxMs;
  const hash = createHash("sha256");
  const chunk = new Uint8Array(CHUNK_BYTES);
  let size = 0;
  for (;;) {
    const count = readSync(fd, chunk, 0, chunk.length, null);
    if (count === 0) return { status: "file", sha256: hash.digest("hex"), size };
    size += count;
    if (size > maxBytes) return tooLarge(maxBytes);
    if (systemClock.monotonic() > until) return { status: "refused", reason: "reading it takes too long" };
    hash.update(chunk.subarray(0, count));
  }
}

async function hashOf(handle: FileHandle, maxBytes: number, maxMs: number): Promise<FileContent> {
  // Real time: neither disks nor other processes follow a session's clock.
  const until = systemClock.monotonic() + maxMs;
  const hash = createHash("sha256");
  const chunk = new Uint8Array(CHUNK_BYTES);
  let size = 0;
  for (;;) {
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, null);
    if (bytesRead === 0) return { status: "file", sha256: hash.digest("hex"), size };
    size += bytesRead;
    if (size > maxBytes) return tooLarge(maxBytes);
    if (systemClock.monotonic() > until) return { status: "refused", reason: "reading it takes too long" };
    hash.update(chunk.subarray(0, bytesRead));
    // Reading alone does not let timers run on every runtime.
    if (size > CHUNK_BYTES) await new Promise((resolve) => setImmediate(resolve));
  }
}

function identity(stat: BigIntStats): string {
  return `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}`;
}

function isSettled(stat: BigIntStats): boolean {
  return BigInt(Math.floor(systemClock.now())) - stat.ctimeNs / 1_000_000n >= SETTLED_MS;
}

function remember(map: Map<string, FileContent>, id: string, content: FileContent, most: number): void {
  map.delete(id);
  map.set(id, content);
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
}

function tooLarge(maxBytes: number): FileContent {
  return { status: "refused", reason: `it is larger than ${maxBytes} bytes` };
}

function fromError(error: unknown): FileContent {
  const code = errorCode(error);
  if (["ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG"].includes(code)) return { status: "none" };
  return { status: "refused", reason: `it cannot be read (${code})` };
}
