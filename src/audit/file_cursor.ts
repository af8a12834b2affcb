import { Buffer } from "node:buffer";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import type { AuditEvent } from "./audit.ts";
import { decodeLine } from "./line.ts";

/** One line that was read and checked. */
export interface AuditLine {
  event: AuditEvent;
  /** Its timestamp in epoch milliseconds. */
  at: number;
  /** The line as it is stored, without its newline. */
  text: string;
  /** Name of the file in the events folder. */
  file: string;
}

/** Reads one file forward, line by line, a chunk in memory at a time, and holds no descriptor between two reads. */
export interface FileCursor {
  /** The next good line, or null when the file has no more whole lines for now. */
  next(): Promise<AuditLine | null>;
  /** Lines so far, ended by a newline, that are no audit events: cut, overwritten or too long. */
  damaged(): number;
  /** Whether a file of that size and inode number holds something that was not read yet. */
  behind(size: number, ino: number): boolean;
}

export interface CursorOptions {
  /** Nothing will be added any more: a last line without newline is taken when it is whole, else passed over. */
  final: boolean;
  /** Where in the file to begin, in bytes: with the line after the one that stands there. Default: its beginning. */
  from?: number;
  /** Lines of before that instant (epoch milliseconds) are passed over without being looked at any further. */
  sinceMs?: number;
}

const CHUNK_BYTES = 64 * 1024;
const MAX_LINE_BYTES = 1024 * 1024;
const NEWLINE = 0x0a;
const EMPTY = Buffer.alloc(0);
/** In front of the time, which stands behind an id and a type. */
const TIME_KEY = '"timestamp":"';
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const TIME_CHARS = "2026-01-01T00:00:00.000Z".length;
const FURTHEST_TIME = 512;

/** `next` rejects when the file cannot be read, with ENOENT when it is gone. */
export function fileCursor(path: string, file: string, options: CursorOptions): FileCursor {
  const { final, from = 0, sinceMs } = options;
  const since = sinceMs === undefined ? "" : timeText(sinceMs);
  /** Where `held` begins in the file. */
  let offset = from;
  let held: Buffer = EMPTY;
  /** Bytes of `held` that have no newline in them. */
  let scanned = 0;
  let end = 0;
  let ino: number | undefined;
  let damaged = 0;
  let overlong = from > 0;

  const consume = (bytes: number) => {
    held = held.subarray(bytes);
    offset += bytes;
    scanned = 0;
  };

  const decode = (line: Buffer): AuditLine | null => {
    const decoded = decodeLine(line);
    return decoded.ok ? { event: decoded.event, at: decoded.at, text: decoded.text, file } : null;
  };

  const readChunk = async (): Promise<boolean> => {
    const position = offset + held.length;
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      if (ino === undefined) {
        const stat = await handle.stat();
        if (!stat.isFile()) throw new Error("not a regular file");
        ino = stat.ino;
      }
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES, position);
      if (bytesRead > 0) held = Buffer.concat([held, chunk.subarray(0, bytesRead)]);
      end = position + bytesRead;
      return bytesRead > 0;
    } finally {
      await handle.close();
    }
  };

  /** Held bytes are given up at the end of the file, and read again when it has grown. */
  const atEnd = (): AuditLine | null => {
    const tail = held;
    if (final) consume(tail.length);
    held = EMPTY;
    scanned = 0;
    return final && !overlong && tail.length > 0 ? decode(tail) : null;
  };

  return {
    damaged: () => damaged,
    behind(size, inode) {
      if (ino !== undefined && ino !== inode) {
        offset = 0;
        end = 0;
        ino = undefined;
        held = EMPTY;
        scanned = 0;
        overlong = false;
      }
      return size > end;
    },
    async next() {
      for (;;) {
        const at = held.indexOf(NEWLINE, scanned);
        if (at >= 0) {
          const line = held.subarray(0, at);
          const skip = overlong;
          overlong = false;
          consume(at + 1);
          if (skip) continue;
          if (line.length === 0) continue;
          const decoded = decode(line);
          if (decoded) return decoded;
          damaged++;
          continue;
        }
        scanned = held.length;
        if (held.length > MAX_LINE_BYTES || overlong) {
          if (!overlong) damaged++;
          overlong = true;
          consume(held.length);
        }
        if (!(await readChunk())) return atEnd();
        if (since !== "" && !overlong) consume(lengthBefore(held.toString("latin1"), since));
      }
    },
  };
}

/** To be compared with the times of lines; empty where it cannot be. */
function timeText(epochMs: number): string {
  const text = Number.isNaN(new Date(epochMs).getTime()) ? "" : new Date(epochMs).toISOString();
  return TIME.test(text) ? text : "";
}

/** Length of the whole lines at the beginning that are older. Looked at as text, and no further: a tenth of the work of reading them. */
function lengthBefore(text: string, since: string): number {
  for (let begin = 0;;) {
    const end = text.indexOf("\n", begin);
    if (end < 0 || !isBefore(text, { begin, end }, since)) return begin;
    begin = end + 1;
  }
}

/** What does not look as reyn writes it is not. */
function isBefore(text: string, { begin, end }: { begin: number; end: number }, since: string): boolean {
  const at = text.indexOf(TIME_KEY, begin);
  if (at < 0 || at > end || at - begin > FURTHEST_TIME) return false;
  const time = text.slice(at + TIME_KEY.length, at + TIME_KEY.length + TIME_CHARS);
  return time < since && TIME.test(time);
}
