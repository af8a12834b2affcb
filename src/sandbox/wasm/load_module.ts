import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import path from "node:path";
import { errorCode } from "../../adapter/executable.ts";
import { MOST_MODULE_BYTES } from "./limits.ts";
import { inspectModule, type ModuleInfo } from "./module_info.ts";
import type { Module } from "./plugin_child.ts";

export type LoadedModule =
  | { ok: true; file: string; module: Module; info: ModuleInfo }
  | { ok: false; reason: string };

export interface LoadOptions {
  /** Relative names start here. */
  controlDir: string;
  exportName: string;
  memoryBytes: number;
}

/**
 * Reads a module and looks at it, without running any of it. The bytes that come back are the ones that were looked at and hashed: what becomes of
 * the file afterwards does not matter. Never throws.
 */
export function loadModule(name: string, options: LoadOptions): LoadedModule {
  const file = path.resolve(options.controlDir, name);
  const read = readModule(file);
  if (!read.ok) return read;
  const inspection = inspectModule(read.bytes, options);
  if (!inspection.ok) return inspection;
  const hash = createHash("sha256").update(read.bytes).digest("hex");
  return { ok: true, file, module: { hash, bytes: read.bytes }, info: inspection.info };
}

function readModule(file: string): { ok: true; bytes: Uint8Array } | { ok: false; reason: string } {
  let fd: number;
  try {
    // A FIFO would wait for its other end.
    fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const code = errorCode(error);
    return { ok: false, reason: code === "ENOENT" ? "it does not exist" : `it cannot be read (${code})` };
  }
  try {
    const info = fstatSync(fd);
    if (!info.isFile()) return { ok: false, reason: "it is not a file" };
    if (info.size > MOST_MODULE_BYTES) {
      return { ok: false, reason: `it is larger than ${MOST_MODULE_BYTES} bytes` };
    }
    const bytes = new Uint8Array(info.size);
    let length = 0;
    while (length < bytes.length) {
      const got = readSync(fd, bytes, length, bytes.length - length, length);
      if (got === 0) break;
      length += got;
    }
    return { ok: true, bytes: bytes.subarray(0, length) };
  } catch (error) {
    return { ok: false, reason: `it cannot be read (${errorCode(error)})` };
  } finally {
    closeSync(fd);
  }
}
