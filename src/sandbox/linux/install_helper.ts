import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { Buffer } from "node:buffer";
import { randomUUID } from "node:crypto";
import path from "node:path";
import process from "node:process";
import { errorCode } from "../../adapter/executable.ts";
import { digestOf, type HelperBytes } from "./helper_bytes.ts";

/** The helper as a file that has been checked. */
export interface InstalledHelper {
  /** The file's name; what stands there may be replaced by others of the same account. */
  file: string;
  /** Names the very file that was checked, whatever happens to its name: it is held open. */
  executable: string;
  /** Lets go of the file; `executable` names nothing then. */
  close(): void;
}

export type HelperInstall = { ok: true; installed: InstalledHelper } | { ok: false; reason: string };

const OTHERS = 0o077;
const WRITABLE_BY_OTHERS = 0o022;
const OWNER_EXECUTES = 0o100;
/** Read and execute for us alone: nothing ever writes to it. */
const FILE_MODE = 0o500;

/**
 * Puts the helper into a folder of ours, or takes the one that is there when it has the right bytes. Refuses a folder, or a file, that
 * someone else owns or may write.
 */
export function installHelper(helper: HelperBytes, folder: string): HelperInstall {
  const file = path.join(folder, `reyn-helper-${helper.sha256.slice(0, 16)}`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const unsafe = whyUnsafeFolder(folder);
    if (unsafe !== undefined) return { ok: false, reason: `${folder} ${unsafe}` };
    const present = openVerified(file, helper);
    if (present !== undefined) return installed(file, present);
    write(file, helper.bytes);
    const written = openVerified(file, helper);
    if (written !== undefined) return installed(file, written);
    return { ok: false, reason: `${file} is not what was written there` };
  } catch (error) {
    return { ok: false, reason: `${folder} cannot hold the helper (${errorCode(error)})` };
  }
}

function installed(file: string, fd: number): HelperInstall {
  const executable = `/proc/${process.pid}/fd/${fd}`;
  return { ok: true, installed: { file, executable, close: () => closeSync(fd) } };
}

function whyUnsafeFolder(folder: string): string | undefined {
  const status = lstatSync(folder);
  if (!status.isDirectory()) return "is not a folder";
  if (status.uid !== process.getuid?.()) return "belongs to another account";
  if ((status.mode & OTHERS) !== 0) return "is open to others (it must be 0700)";
  return undefined;
}

/** A descriptor of the file when it is ours alone and has the right bytes. */
function openVerified(file: string, helper: HelperBytes): number | undefined {
  let fd: number;
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  let good = false;
  try {
    const status = fstatSync(fd);
    good = status.isFile() && status.uid === process.getuid?.() && (status.mode & WRITABLE_BY_OTHERS) === 0 &&
      (status.mode & OWNER_EXECUTES) !== 0 && status.size === helper.bytes.length &&
      digestOf(readWhole(fd, status.size)) === helper.sha256;
    return good ? fd : undefined;
  } finally {
    if (!good) closeSync(fd);
  }
}

function readWhole(fd: number, size: number): Uint8Array {
  const bytes = Buffer.alloc(size);
  let length = 0;
  while (length < size) {
    const got = readSync(fd, bytes, length, size - length, length);
    if (got === 0) break;
    length += got;
  }
  return bytes.subarray(0, length);
}

/** Whole or not at all: other processes may be installing the same, or executing it. */
function write(file: string, bytes: Uint8Array): void {
  const temporary = `${file}.${randomUUID()}`;
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
  const fd = openSync(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, FILE_MODE);
  try {
    try {
      for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
