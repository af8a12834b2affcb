import { readlinkSync, realpathSync } from "node:fs";
import path from "node:path";
import { errorCode } from "../adapter/executable.ts";

export interface PathBase {
  controlDir: string;
  homes: readonly string[];
}

/** As many symlinks as the kernel follows in one path. */
const MOST_LINKS = 40;

/** The absolute paths that a path of the operator's stands for: one for each home when it starts with `~`. */
export function expandPath(text: string, base: PathBase): string[] {
  if (text === "~" || text.startsWith("~/")) {
    return [...new Set(base.homes.map((home) => plain(path.join(home, text.slice(1)))))];
  }
  return [plain(path.resolve(base.controlDir, text))];
}

/** Without `.`, `..`, empty parts and a trailing slash. */
function plain(absolute: string): string {
  const normal = path.normalize(absolute);
  return normal.length > 1 && normal.endsWith("/") ? normal.slice(0, -1) : normal;
}

/**
 * The path with its symlinks followed. Of one that does not exist the longest existing part is, and a symlink to
 * nothing is followed to where its target would be.
 */
export function canonicalPath(absolute: string): string {
  let wanted = absolute;
  for (let links = 0; links < MOST_LINKS; links++) {
    let part = wanted;
    let rest = "";
    for (;;) {
      try {
        return plain(path.join(realpathSync(part), rest));
      } catch (error) {
        if (!["ENOENT", "ENOTDIR", "EACCES", "ELOOP"].includes(errorCode(error)) || part === "/") {
          return wanted;
        }
      }
      const target = linkTarget(part);
      if (target !== undefined) {
        wanted = plain(path.join(path.resolve(path.dirname(part), target), rest));
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

/** Whether `file` is `folder` or lies below it; both absolute and plain. */
export function isUnder(file: string, folder: string): boolean {
  return folder === "/" || file === folder || file.startsWith(`${folder}/`);
}
