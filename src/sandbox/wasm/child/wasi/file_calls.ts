import {
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  futimesSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  readSync,
  renameSync,
  rmdirSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeSync,
} from "node:fs";
import { Buffer } from "node:buffer";
import type { Descriptors, FileDescriptor } from "./descriptors.ts";
import { ERRNO, WasiError } from "./errno.ts";
import type { GuestMemory } from "./guest_memory.ts";
import { FILE_TYPE, fileType, STAT_BYTES, writeStat } from "./stat.ts";

const FLAG = { create: 1, directory: 2, exclusive: 4, truncate: 8 } as const;
const FD_APPEND = 1;
const RIGHT_READ = 1n << 1n;
const RIGHT_WRITE = 1n << 6n;
const ALL_RIGHTS = (1n << 29n) - 1n;
const FOLLOW = 1;
const DIRENT_BYTES = 24;
const SEEK = { set: 0, current: 1, end: 2 } as const;

export interface Streams {
  stdin(): Uint8Array;
  stdout(bytes: Uint8Array): void;
  stderr(bytes: Uint8Array): void;
}

/** The calls of WASI that are about descriptors and paths. Each gives nothing or throws. */
export function fileCalls(table: Descriptors, memory: GuestMemory, streams: Streams) {
  const file = (number: number): FileDescriptor => {
    const found = table.get(number);
    if (found.kind !== "file") throw new WasiError(found.kind === "folder" ? ERRNO.isdir : ERRNO.spipe);
    return found;
  };
  const readable = (number: number) => {
    const found = file(number);
    if (!found.read) throw new WasiError(ERRNO.badf);
    return found;
  };
  const writable = (number: number) => {
    const found = file(number);
    if (!found.write) throw new WasiError(ERRNO.badf);
    return found;
  };
  /** Reads into the buffers, one after the other, until one is not filled. */
  const readInto = (fd: number, buffers: Uint8Array[], from: bigint): bigint => {
    let total = 0n;
    for (const buffer of buffers) {
      if (buffer.length === 0) continue;
      const got = readSync(fd, buffer, 0, buffer.length, from + total);
      total += BigInt(got);
      if (got < buffer.length) break;
    }
    return total;
  };
  const writeFrom = (fd: number, buffers: Uint8Array[], from: bigint): bigint => {
    let total = 0n;
    for (const buffer of buffers) {
      for (let at = 0; at < buffer.length;) {
        const written = writeSync(fd, buffer, at, buffer.length - at, Number(from + total));
        at += written;
        total += BigInt(written);
      }
    }
    return total;
  };
  const end = (fd: number) => fstatSync(fd, { bigint: true }).size;
  const times = (
    access: bigint,
    change: bigint,
    flags: number,
    info: { atimeMs: number; mtimeMs: number },
  ) => {
    const NOW = { access: 2, change: 8 };
    const SET = { access: 1, change: 4 };
    const now = Date.now() / 1000;
    const pick = (set: number, nowFlag: number, value: bigint, old: number) =>
      (flags & nowFlag) !== 0 ? now : (flags & set) !== 0 ? Number(value) / 1e9 : old / 1000;
    return [
      pick(SET.access, NOW.access, access, info.atimeMs),
      pick(SET.change, NOW.change, change, info.mtimeMs),
    ] as const;
  };
  const refuse = (): never => {
    throw new WasiError(ERRNO.notsup);
  };

  return {
    fd_close: (fd: number) => table.close(fd),
    fd_renumber: (from: number, to: number) => table.renumber(from, to),
    fd_advise: (fd: number) => void file(fd),
    fd_allocate: (fd: number, offset: bigint, length: bigint) => {
      const { fd: real } = writable(fd);
      if (end(real) < offset + length) ftruncateSync(real, Number(offset + length));
    },
    fd_sync: (fd: number) => fsyncSync(file(fd).fd),
    fd_datasync: (fd: number) => fdatasyncSync(file(fd).fd),
    fd_fdstat_get(fd: number, at: number) {
      const found = table.get(fd);
      const view = memory.view(at, 24);
      const type = found.kind === "folder"
        ? FILE_TYPE.folder
        : found.kind === "file"
        ? FILE_TYPE.file
        : FILE_TYPE.character;
      view.setUint8(0, type);
      view.setUint16(2, found.kind === "file" && found.append ? FD_APPEND : 0, true);
      const mayWrite = found.kind === "stdin"
        ? false
        : found.kind === "stdout" || found.kind === "stderr" || found.write;
      const rights = mayWrite ? ALL_RIGHTS : ALL_RIGHTS & ~RIGHT_WRITE;
      view.setBigUint64(8, rights, true);
      view.setBigUint64(16, rights, true);
    },
    fd_fdstat_set_flags(fd: number, flags: number) {
      const found = table.get(fd);
      if (found.kind === "file") found.append = (flags & FD_APPEND) !== 0;
    },
    fd_fdstat_set_rights: (fd: number) => void table.get(fd),
    fd_filestat_get(fd: number, at: number) {
      const found = table.get(fd);
      const view = memory.view(at, STAT_BYTES);
      if (found.kind === "file") writeStat(view, fstatSync(found.fd, { bigint: true }));
      else if (found.kind === "folder") writeStat(view, lstatSync(found.path, { bigint: true }));
      else {
        new Uint8Array(view.buffer, view.byteOffset, STAT_BYTES).fill(0);
        view.setUint8(16, FILE_TYPE.character);
      }
    },
    fd_filestat_set_size: (fd: number, size: bigint) => ftruncateSync(writable(fd).fd, Number(size)),
    fd_filestat_set_times(fd: number, access: bigint, change: bigint, flags: number) {
      const { fd: real } = writable(fd);
      futimesSync(real, ...times(access, change, flags, fstatSync(real)));
    },
    fd_prestat_get(fd: number, at: number) {
      const name = table.preopen(fd);
      memory.u32(at, 0);
      memory.u32(at + 4, Buffer.byteLength(name));
    },
    fd_prestat_dir_name(fd: number, at: number, length: number) {
      const name = Buffer.from(table.preopen(fd));
      if (name.length > length >>> 0) throw new WasiError(ERRNO.nametoolong);
      memory.bytes(at, name.length).set(name);
    },
    fd_read(fd: number, list: number, count: number, result: number) {
      const buffers = memory.buffers(list, count);
      const found = table.get(fd);
      if (found.kind === "stdin") {
        let total = 0;
        for (const buffer of buffers) {
          const part = streams.stdin().subarray(found.at, found.at + buffer.length);
          buffer.set(part);
          found.at += part.length;
          total += part.length;
        }
        return memory.u32(result, total);
      }
      const open = readable(fd);
      const got = readInto(open.fd, buffers, open.position);
      open.position += got;
      memory.u32(result, Number(got));
    },
    fd_pread(fd: number, list: number, count: number, offset: bigint, result: number) {
      memory.u32(result, Number(readInto(readable(fd).fd, memory.buffers(list, count), offset)));
    },
    fd_write(fd: number, list: number, count: number, result: number) {
      const buffers = memory.buffers(list, count);
      const found = table.get(fd);
      if (found.kind === "stdout" || found.kind === "stderr") {
        const whole = Buffer.concat(buffers);
        (found.kind === "stdout" ? streams.stdout : streams.stderr)(whole);
        return memory.u32(result, whole.length);
      }
      const open = writable(fd);
      const from = open.append ? end(open.fd) : open.position;
      const written = writeFrom(open.fd, buffers, from);
      open.position = from + written;
      memory.u32(result, Number(written));
    },
    fd_pwrite(fd: number, list: number, count: number, offset: bigint, result: number) {
      memory.u32(result, Number(writeFrom(writable(fd).fd, memory.buffers(list, count), offset)));
    },
    fd_seek(fd: number, offset: bigint, whence: number, result: number) {
      const open = file(fd);
      const base = whence === SEEK.set ? 0n : whence === SEEK.current ? open.position : end(open.fd);
      if (whence < 0 || whence > SEEK.end || base + offset < 0n) throw new WasiError(ERRNO.inval);
      open.position = base + offset;
      memory.u64(result, open.position);
    },
    fd_tell: (fd: number, result: number) => memory.u64(result, file(fd).position),
    fd_readdir(fd: number, at: number, length: number, cookie: bigint, result: number) {
      const { path: folder } = table.folder(fd);
      const entries = readdirSync(folder, { withFileTypes: true });
      const out = memory.bytes(at, length);
      let used = 0;
      for (let i = Number(cookie); i < entries.length && used < out.length; i++) {
        const entry = entries[i];
        if (!entry) break;
        const name = Buffer.from(entry.name);
        const record = Buffer.alloc(DIRENT_BYTES + name.length);
        record.writeBigUInt64LE(BigInt(i + 1), 0);
        record.writeUInt32LE(name.length, 16);
        record[20] = fileType(entry);
        record.set(name, DIRENT_BYTES);
        const part = record.subarray(0, out.length - used);
        out.set(part, used);
        used += part.length;
      }
      memory.u32(result, used);
    },
    path_open(
      fd: number,
      lookup: number,
      at: number,
      length: number,
      open: number,
      rights: bigint,
      _inheriting: bigint,
      flags: number,
      result: number,
    ) {
      const write = (rights & RIGHT_WRITE) !== 0n && table.folder(fd).write;
      const opened = table.open(fd, memory.text(at, length), {
        create: (open & FLAG.create) !== 0,
        directory: (open & FLAG.directory) !== 0,
        exclusive: (open & FLAG.exclusive) !== 0,
        truncate: (open & FLAG.truncate) !== 0,
        append: (flags & FD_APPEND) !== 0,
        read: (rights & RIGHT_READ) !== 0n || !write,
        // A library asks for every right when it opens a folder.
        write: write && (open & FLAG.directory) === 0,
        follow: (lookup & FOLLOW) !== 0,
      });
      memory.u32(result, opened);
    },
    path_create_directory: (fd: number, at: number, length: number) =>
      mkdirSync(table.locate(fd, memory.text(at, length), { follow: false, write: true })),
    path_remove_directory: (fd: number, at: number, length: number) =>
      rmdirSync(table.locate(fd, memory.text(at, length), { follow: false, write: true })),
    path_unlink_file(fd: number, at: number, length: number) {
      const name = memory.text(at, length);
      const found = table.locate(fd, name, { follow: false, write: true });
      if (lstatSync(found, { throwIfNoEntry: false })?.isDirectory()) throw new WasiError(ERRNO.isdir);
      unlinkSync(found);
    },
    path_rename(from: number, at: number, length: number, to: number, toAt: number, toLength: number) {
      const source = table.locate(from, memory.text(at, length), { follow: false, write: true });
      const target = table.locate(to, memory.text(toAt, toLength), { follow: false, write: true });
      renameSync(source, target);
    },
    path_filestat_get(fd: number, lookup: number, at: number, length: number, result: number) {
      const found = table.locate(fd, memory.text(at, length), {
        follow: (lookup & FOLLOW) !== 0,
        write: false,
      });
      writeStat(memory.view(result, STAT_BYTES), lstatSync(found, { bigint: true }));
    },
    path_filestat_set_times(
      fd: number,
      lookup: number,
      at: number,
      length: number,
      access: bigint,
      change: bigint,
      flags: number,
    ) {
      const found = table.locate(fd, memory.text(at, length), {
        follow: (lookup & FOLLOW) !== 0,
        write: true,
      });
      utimesSync(found, ...times(access, change, flags, statSync(found)));
    },
    path_readlink(fd: number, at: number, length: number, out: number, room: number, result: number) {
      const found = table.locate(fd, memory.text(at, length), { follow: false, write: false });
      const target = Buffer.from(readlinkSync(found)).subarray(0, room >>> 0);
      memory.bytes(out, target.length).set(target);
      memory.u32(result, target.length);
    },
    // What others follow is not a plugin's to make.
    path_symlink: refuse,
    path_link: refuse,
  };
}
