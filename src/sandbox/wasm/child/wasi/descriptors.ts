import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  realpathSync,
  type Stats,
} from "node:fs";
import path from "node:path";
import type { DeniedAxis, GrantedFolder } from "../../protocol.ts";
import { ERRNO, WasiError } from "./errno.ts";
import { Escape, resolveInside } from "./resolve_path.ts";

export type Descriptor =
  | { kind: "stdin"; at: number }
  | { kind: "stdout" }
  | { kind: "stderr" }
  | FolderDescriptor
  | { kind: "file"; fd: number; position: bigint; append: boolean; read: boolean; write: boolean };

export interface FolderDescriptor {
  kind: "folder";
  /** Granted, and never left. */
  root: string;
  path: string;
  write: boolean;
  /** Set for a granted folder itself: the name that the plugin knows it by. */
  preopen?: string;
}

export type FileDescriptor = Extract<Descriptor, { kind: "file" }>;

/** What an open asks for. */
export interface OpenRequest {
  create: boolean;
  directory: boolean;
  exclusive: boolean;
  truncate: boolean;
  append: boolean;
  read: boolean;
  write: boolean;
  follow: boolean;
}

/** Descriptors that one plugin may hold. */
const MOST_DESCRIPTORS = 64;
const FIRST_PREOPEN = 3;
const NEW_FILE_MODE = 0o666;

/** A plugin's table of descriptors: the standard streams, its granted folders, and what it has opened below them. */
export function openDescriptors(
  folders: readonly GrantedFolder[],
  denied: (axis: DeniedAxis, target: string, reason: string) => void,
) {
  const table = new Map<number, Descriptor>([
    [0, { kind: "stdin", at: 0 }],
    [1, { kind: "stdout" }],
    [2, { kind: "stderr" }],
  ]);
  folders.forEach(({ guest, host, write }, i) =>
    table.set(FIRST_PREOPEN + i, { kind: "folder", root: host, path: host, write, preopen: guest })
  );

  const add = (descriptor: Descriptor): number => {
    if (table.size >= MOST_DESCRIPTORS + FIRST_PREOPEN) throw new WasiError(ERRNO.mfile);
    let number = FIRST_PREOPEN;
    while (table.has(number)) number += 1;
    table.set(number, descriptor);
    return number;
  };
  const get = (number: number): Descriptor => {
    const found = table.get(number);
    if (!found) throw new WasiError(ERRNO.badf);
    return found;
  };
  const folder = (number: number): FolderDescriptor => {
    const found = get(number);
    if (found.kind !== "folder") throw new WasiError(ERRNO.notdir);
    return found;
  };
  /** The path that is meant; `write` where it is to be changed. */
  const locate = (number: number, relative: string, options: { follow: boolean; write: boolean }) => {
    const base = folder(number);
    try {
      const found = resolveInside(base.root, base.path, relative, options);
      if (!options.write || base.write) return found;
    } catch (error) {
      if (error instanceof Escape) {
        denied(
          options.write ? "write" : "read",
          relative,
          `${error.why} leads out of ${base.preopen ?? "its folder"}`,
        );
      }
      throw error;
    }
    denied("write", relative, "the folder is granted for reading only");
    throw new WasiError(ERRNO.rofs);
  };

  return {
    get,
    folder,
    locate,
    preopen(number: number): string {
      const found = table.get(number);
      if (found?.kind !== "folder" || found.preopen === undefined) throw new WasiError(ERRNO.badf);
      return found.preopen;
    },
    open(number: number, relative: string, request: OpenRequest): number {
      const base = folder(number);
      const changes = request.create || request.truncate || request.write;
      const file = locate(number, relative, { follow: request.follow, write: changes });
      const opened = openFile(file, base.root, request);
      if (opened.info.isDirectory()) {
        closeSync(opened.fd);
        if (request.write || request.truncate) throw new WasiError(ERRNO.isdir);
        return add({ kind: "folder", root: base.root, path: file, write: base.write });
      }
      try {
        return add({
          kind: "file",
          fd: opened.fd,
          position: 0n,
          append: request.append,
          read: request.read,
          write: request.write,
        });
      } catch (error) {
        closeSync(opened.fd);
        throw error;
      }
    },
    renumber(from: number, to: number): void {
      const moved = get(from);
      if (from === to) return;
      const replaced = get(to);
      if (replaced.kind === "file") closeSync(replaced.fd);
      table.set(to, moved);
      table.delete(from);
    },
    close(number: number): void {
      const found = get(number);
      table.delete(number);
      if (found.kind === "file") closeSync(found.fd);
    },
    closeAll(): void {
      for (const found of table.values()) if (found.kind === "file") closeSync(found.fd);
      table.clear();
    },
  };
}

export type Descriptors = ReturnType<typeof openDescriptors>;

/**
 * Opens what was found, without following a symlink that has come there since, and looks where it really is before anything is cut off. What is
 * created elsewhere in between the kernel refuses: this process can write granted folders only.
 */
function openFile(file: string, root: string, request: OpenRequest): { fd: number; info: Stats } {
  const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = constants;
  const access = request.write ? (request.read ? O_RDWR : O_WRONLY) : O_RDONLY;
  const flags = access | O_NOFOLLOW | O_NONBLOCK | (request.create ? O_CREAT : 0) |
    (request.exclusive ? O_EXCL : 0) | (request.directory ? O_DIRECTORY : 0);
  const fd = openSync(file, flags, NEW_FILE_MODE);
  try {
    const info = fstatSync(fd);
    const real = realpathSync(file);
    const there = lstatSync(real);
    const isInside = real === root || real.startsWith(root === "/" ? "/" : `${root}${path.sep}`);
    if (!isInside || there.dev !== info.dev || there.ino !== info.ino) throw new WasiError(ERRNO.notcapable);
    // A pipe or a device is nothing that a folder was granted for.
    if (!info.isFile() && !info.isDirectory()) throw new WasiError(ERRNO.notsup);
    if (request.truncate && info.isFile()) ftruncateSync(fd, 0);
    return { fd, info };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}
