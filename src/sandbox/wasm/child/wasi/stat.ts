import type { BigIntStats, Dirent } from "node:fs";

export const FILE_TYPE = { unknown: 0, block: 1, character: 2, folder: 3, file: 4, link: 7 } as const;

type Kinds = Pick<Dirent, "isDirectory" | "isFile" | "isSymbolicLink">;

export function fileType(info: Kinds): number {
  if (info.isDirectory()) return FILE_TYPE.folder;
  if (info.isFile()) return FILE_TYPE.file;
  return info.isSymbolicLink() ? FILE_TYPE.link : FILE_TYPE.unknown;
}

/** Writes a `filestat`, 64 bytes. */
export function writeStat(view: DataView, info: BigIntStats): void {
  const type = info.isDirectory() ? FILE_TYPE.folder : info.isFile() ? FILE_TYPE.file : FILE_TYPE.link;
  view.setBigUint64(0, info.dev, true);
  view.setBigUint64(8, info.ino, true);
  view.setBigUint64(16, BigInt(type), true);
  view.setBigUint64(24, info.nlink, true);
  view.setBigUint64(32, info.size, true);
  view.setBigUint64(40, info.atimeNs, true);
  view.setBigUint64(48, info.mtimeNs, true);
  view.setBigUint64(56, info.ctimeNs, true);
}
export const STAT_BYTES = 64;
