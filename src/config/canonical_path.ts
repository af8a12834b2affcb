import { readlinkSync, realpathSync } from "node:fs";
import path from "node:path";

/** As many symlinks as the kernel follows in one path. */
const MOST_LINKS = 40;

/**
 * The absolute path with its symlinks followed. Of one that does not exist the longest existing part is, and a symlink to
 * nothing is followed to where its target would be.
 */
export function canonicalPath(absolute: string): string {
  let wanted = absolute;
  for (let links = 0; links < MOST_LINKS; links++) {
    let part = wanted;
    let rest = "";
    for (;;) {
      try {
        return plainPath(path.join(realpathSync(part), rest));
      } catch {
        if (part === "/") return wanted;
      }
      const target = linkTarget(part);
      if (target !== undefined) {
        wanted = plainPath(path.join(path.resolve(path.dirname(part), target), rest));
        break;
      }
      rest = path.join(path.basename(part), rest);
      part = path.dirname(part);
    }
  }
  return wanted;
}

function linkTarget(file: string): string | undefined {
  try {
    return readlinkSync(file);
  } catch {
    return undefined;
  }
}

/** An absolute path without `.`, `..`, empty parts and a trailing slash. */
export function plainPath(absolute: string): string {
  const normal = path.normalize(absolute);
  return normal.length > 1 && normal.endsWith("/") ? normal.slice(0, -1) : normal;
}

/** Whether `file` is `folder` or lies below it; both absolute and plain. */
export function isUnder(file: string, folder: string): boolean {
  return folder === "/" || file === folder || file.startsWith(`${folder}/`);
}
