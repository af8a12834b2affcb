import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import { finding } from "../errors/reyn_error.ts";
import type { Finding } from "../errors/finding.ts";
import { escapeVisible } from "../errors/escape_visible.ts";

/** Largest configuration file that is read, in bytes. */
export const MAX_FILE_BYTES = 1024 * 1024;

export type FileRead =
  | { state: "absent" }
  | { state: "text"; text: string; bytes: Uint8Array; sha256: () => string }
  | { state: "failed"; finding: Finding };

/**
 * Reads a whole text file of at most `maxBytes` (default 1 MiB). Symlinks are followed. A byte order mark is dropped
 * from the text. Anything but a regular file is refused without waiting for it, so a FIFO cannot hang the start.
 * `shown` is the file's name in findings.
 */
export function readTextFile(path: string, shown: string, maxBytes = MAX_FILE_BYTES): FileRead {
  const read = readBytes(path, maxBytes);
  if ("absent" in read) return { state: "absent" };
  const place = { file: shown, line: 1, column: 1 };
  if ("code" in read) return { state: "failed", finding: finding(read.code, read.message, { place }) };
  const { bytes } = read;
  const text = decode(bytes);
  if (text === undefined) {
    const line = firstBadLine(bytes);
    const message = "is not UTF-8 text";
    return { state: "failed", finding: finding("E_FILE_ENCODING", message, { place: { ...place, line } }) };
  }
  return { state: "text", text, bytes, sha256: () => createHash("sha256").update(bytes).digest("hex") };
}

type Failure = { code: "E_FILE_UNREADABLE" | "E_FILE_NOT_REGULAR" | "E_FILE_TOO_LARGE"; message: string };

function readBytes(path: string, maxBytes: number): { bytes: Uint8Array } | { absent: true } | Failure {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    return openFailure(path, error);
  }
  try {
    const kind = kindOf(fstatSync(fd));
    if (kind !== "file") return { code: "E_FILE_NOT_REGULAR", message: `is a ${kind}, not a file` };
    // The size is not asked for: it may change, and some file systems say 0.
    const buffer = new Uint8Array(maxBytes + 1);
    let length = 0;
    while (length < buffer.length) {
      const count = readSync(fd, buffer, length, buffer.length - length, null);
      if (count === 0) break;
      length += count;
    }
    if (length > maxBytes) return { code: "E_FILE_TOO_LARGE", message: `is larger than ${maxBytes} bytes` };
    return { bytes: buffer.slice(0, length) };
  } catch (error) {
    return { code: "E_FILE_UNREADABLE", message: `cannot be read: ${reason(error)}` };
  } finally {
    closeSync(fd);
  }
}

function openFailure(path: string, error: unknown): { absent: true } | Failure {
  const kind = kindAt(path);
  if (kind !== undefined && kind !== "file" && kind !== "symlink") {
    return { code: "E_FILE_NOT_REGULAR", message: `is a ${kind}, not a file` };
  }
  if (errorCode(error) !== "ENOENT") {
    return { code: "E_FILE_UNREADABLE", message: `cannot be read: ${reason(error)}` };
  }
  return kind === undefined
    ? { absent: true }
    : { code: "E_FILE_UNREADABLE", message: "is a symlink that leads nowhere" };
}

/** What stands at a path itself; undefined when nothing does. */
function kindAt(path: string): string | undefined {
  try {
    return kindOf(lstatSync(path));
  } catch {
    return undefined;
  }
}

function kindOf(stats: ReturnType<typeof fstatSync>): string {
  if (stats.isFile()) return "file";
  if (stats.isSymbolicLink()) return "symlink";
  if (stats.isDirectory()) return "folder";
  if (stats.isFIFO()) return "FIFO";
  return stats.isSocket() ? "socket" : "device";
}

function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  ELOOP: "too many symlinks",
  ENOTDIR: "a part of its path is not a folder",
  ENAMETOOLONG: "its name is too long",
};

function reason(error: unknown): string {
  const code = errorCode(error);
  return REASONS[code] ?? (code !== "" ? code : escapeVisible(String(error)));
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function firstBadLine(bytes: Uint8Array): number {
  let line = 1;
  for (let start = 0; start < bytes.length; line++) {
    const end = bytes.indexOf(10, start);
    const stop = end < 0 ? bytes.length : end + 1;
    if (decode(bytes.subarray(start, stop)) === undefined) return line;
    start = stop;
  }
  return line;
}
