import { lstatSync, readlinkSync } from "node:fs";
import path from "node:path";
import { ERRNO, WasiError } from "./errno.ts";

/** As many symlinks as the kernel follows in one path. */
const MOST_LINKS = 40;
const LONGEST_PATH = 4096;

/** Thrown for a path that leads out of what is granted. */
export class Escape extends WasiError {
  constructor(readonly why: string) {
    super(ERRNO.notcapable);
  }
}

/**
 * The path below `base` that `relative` names, with every symlink on the way followed and none left in it but, without `follow`, its last
 * part. It never leads above `root`: not by `..`, not by an absolute path, not by a symlink. `base` lies in `root`; both absolute.
 */
export function resolveInside(
  root: string,
  base: string,
  relative: string,
  { follow }: { follow: boolean },
): string {
  if (relative.includes("\0")) throw new WasiError(ERRNO.ilseq);
  if (relative.length > LONGEST_PATH) throw new WasiError(ERRNO.nametoolong);
  if (relative.startsWith("/")) throw new Escape("an absolute path");
  let at = base;
  let links = 0;
  const endsInSlash = relative.endsWith("/");
  const parts = relative.split("/").filter((part) => part !== "" && part !== ".");
  while (parts.length > 0) {
    const part = parts.shift() ?? "";
    if (part === "..") {
      if (at === root) throw new Escape("..");
      at = path.dirname(at);
      continue;
    }
    const next = path.join(at, part);
    const isLast = parts.length === 0;
    const info = lstatSync(next, { throwIfNoEntry: false });
    if (!info) {
      if (isLast) return next;
      throw new WasiError(ERRNO.noent);
    }
    if (info.isSymbolicLink() && (!isLast || follow || endsInSlash)) {
      links += 1;
      if (links > MOST_LINKS) throw new WasiError(ERRNO.loop);
      const target = readlinkSync(next);
      if (target.startsWith("/")) throw new Escape("a symlink");
      parts.unshift(...target.split("/").filter((one) => one !== "" && one !== "."));
      continue;
    }
    if (!isLast && !info.isDirectory()) throw new WasiError(ERRNO.notdir);
    at = next;
  }
  return at;
}
