import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { auditFileName, parseAuditFileName } from "./file_name.ts";
import { hasCode } from "./io_error.ts";

export interface LogFile {
  /**
   * Appends whole lines to the file of that day and syncs them. When it throws, nothing counts as written: the next
   * append, of the same bytes, first takes back what may have reached the file.
   */
  append(day: string, lines: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

export interface LogFileOptions {
  dir: string;
  pid: number;
  /** A file that would grow above it is followed by the next part. */
  maxFileBytes: number;
}

/** An open file, and the size up to which its content is known to be synced. */
interface Current {
  day: string;
  part: number;
  handle: FileHandle;
  ino: number;
  synced: number;
}

/** A write that failed: where the file was good up to, and the most that may lie behind it. */
interface Repair {
  day: string;
  part: number;
  ino: number;
  synced: number;
  limit: number;
}

// Without O_NONBLOCK a named pipe in the place of the file would hang the open.
const OPEN_FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW |
  constants.O_NONBLOCK;
const NEWLINE = 0x0a;

/** The files of one process in the events folder, one open at a time: `<day>-<pid>.jsonl`, then `.2.jsonl` … */
export function openLogFile({ dir, pid, maxFileBytes }: LogFileOptions): LogFile {
  let current: Current | null = null;
  let repair: Repair | null = null;

  const close = async () => {
    const handle = current?.handle;
    current = null;
    await handle?.close();
  };

  const openPart = async (day: string, part: number): Promise<Current> => {
    const handle = await open(join(dir, auditFileName({ day, pid, part })), OPEN_FLAGS, 0o600);
    try {
      const stat = await handle.stat();
      if (!stat.isFile()) throw new Error("not a regular file");
      const { size, ino } = stat;
      if (size === 0) await syncDir(dir);
      const torn = repair;
      if (torn && torn.day === day && torn.part === part) {
        if (torn.ino === ino && size > torn.synced && size <= torn.limit) {
          await handle.truncate(torn.synced);
          repair = null;
          return { day, part, handle, ino, synced: torn.synced };
        }
        repair = null;
      }
      return { day, part, handle, ino, synced: size };
    } catch (error) {
      await handle.close();
      throw error;
    }
  };

  const openDay = async (day: string): Promise<Current> => {
    await makeDir(dir);
    return openPart(day, repair?.day === day ? repair.part : await lastPart(dir, day, pid));
  };

  /** The file that takes `length` more bytes of that day, whatever became of the one that was open. */
  const fileFor = async (day: string, length: number): Promise<Current> => {
    if (current) {
      const { size, nlink } = await current.handle.stat();
      if (current.day !== day || nlink === 0) await close();
      else current.synced = size;
    }
    current ??= await openDay(day);
    while (current.synced > 0 && current.synced + length > maxFileBytes) {
      const next: number = current.part + 1;
      await close();
      current = await openPart(day, next);
    }
    return current;
  };

  return {
    async append(day, lines) {
      const file = await fileFor(day, lines.length + 1);
      const { handle, part, ino, synced } = file;
      try {
        // A torn line that another process left stays as it is, on a line of its own.
        const glued = synced > 0 && (await lastByte(handle, synced)) !== NEWLINE;
        if (glued) await writeAll(handle, Uint8Array.of(NEWLINE));
        await writeAll(handle, lines);
        await handle.datasync();
        file.synced = synced + lines.length + (glued ? 1 : 0);
      } catch (error) {
        // After a failed sync the descriptor tells nothing reliable any more: reopen, cut, write again.
        repair = { day, part, ino, synced, limit: synced + lines.length + 1 };
        await close().catch(() => {});
        throw error;
      }
    },
    close,
  };
}

async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    const { bytesWritten } = await handle.write(bytes, at, bytes.length - at);
    if (bytesWritten === 0) throw new Error("nothing was written");
    at += bytesWritten;
  }
}

async function lastByte(handle: FileHandle, size: number): Promise<number | undefined> {
  const { buffer, bytesRead } = await handle.read(new Uint8Array(1), 0, 1, size - 1);
  return bytesRead === 1 ? buffer[0] : undefined;
}

async function lastPart(dir: string, day: string, pid: number): Promise<number> {
  let last = 1;
  for (const name of await readdir(dir)) {
    const file = parseAuditFileName(name);
    if (file && file.day === day && file.pid === pid) last = Math.max(last, file.part);
  }
  return last;
}

async function makeDir(dir: string): Promise<void> {
  const created = await mkdir(dir, { recursive: true, mode: 0o700 });
  if (created === undefined) return;
  for (let child = dir; child.length >= created.length; child = dirname(child)) await syncDir(dirname(child));
}

/** Makes a new name in the folder durable. Some file systems know no sync of a folder; there is nothing to do then. */
async function syncDir(dir: string): Promise<void> {
  const handle = await open(dir, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await handle.sync();
  } catch (error) {
    if (!hasCode(error, "EINVAL")) throw error;
  } finally {
    await handle.close();
  }
}
