import { existsSync, lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

/** Where the system's own files are: not the operator's to change, and upgraded without a word. */
export const SYSTEM_FOLDERS: readonly string[] = [
  "/usr",
  "/bin",
  "/sbin",
  "/lib",
  "/lib32",
  "/lib64",
  "/libx32",
];

/** How a file counts for an approval: not at all, by where its link leads, or by its content. */
export type Look =
  | { status: "none" }
  | { status: "link"; value: string }
  | { status: "content" }
  /** The name means another file to what runs than it does to reyn. */
  | { status: "refused"; reason: string };

/** Where a name means what it does to the process that says it (`/proc/self`, `/dev/stdin`). */
const PROCESS_FOLDERS = ["/proc", "/dev"];
/** As many symlinks as the kernel follows in one path. */
const MOST_LINKS = 40;

/**
 * Whether an absolute path is a system's file, by its name and by where it leads. A name among the system's that leads
 * elsewhere is covered like any other.
 */
export function namesSystemFile(file: string, folders: readonly string[] = SYSTEM_FOLDERS): boolean {
  return isSystem(file, folders) && isSystem(realPath(file) ?? file, folders);
}

/**
 * What of the file at an absolute path an approval is bound to. `base` is the folder that relative names begin at: what leads
 * there is the operator's own word.
 */
export function lookAt(file: string, base: string, folders: readonly string[] = SYSTEM_FOLDERS): Look {
  // It stands there to be read by whoever approves it, and there is no content to be bound to.
  if (isOfProcess(file)) return { status: "none" };
  const isThere = existsSync(file);
  const target = isThere ? realPath(file) : undefined;
  if (target === file) return { status: "content" };
  if (leadsToProcess(file, base)) {
    const reason = "a link in it leads into /proc, where a name means another file in each process";
    return { status: "refused", reason };
  }
  if (!isThere) return { status: "none" };
  // Of an interpreter that is linked into a project it counts which one it is; upgrades of the system do not.
  if (target !== undefined && isSystem(target, folders)) {
    const isFile = statSync(target, { throwIfNoEntry: false })?.isFile() === true;
    return isFile ? { status: "link", value: `-> ${target}` } : { status: "none" };
  }
  return { status: "content" };
}

/** Whether a name is one of a process: no program may have such a name. */
export function isOfProcess(file: string): boolean {
  return isSystem(file, PROCESS_FOLDERS);
}

/** Whether a link on the way of an absolute path leads into /proc. */
function leadsToProcess(file: string, base: string): boolean {
  const isBelow = file.startsWith(`${base}/`);
  let at = isBelow ? base : "/";
  let links = 0;
  const rest = (isBelow ? file.slice(base.length) : file).split("/").filter((part) => part !== "");
  for (let part = rest.shift(); part !== undefined; part = rest.shift()) {
    if (part === ".") continue;
    if (part === "..") {
      at = dirname(at);
      continue;
    }
    const next = join(at, part);
    if (next === "/proc" && links > 0) return true;
    const stat = lookNoFurther(next);
    if (!stat) return false;
    if (!stat.isSymbolicLink()) {
      at = next;
      continue;
    }
    if (++links > MOST_LINKS) return false;
    const target = readlinkSync(next);
    if (target.startsWith("/")) at = "/";
    rest.unshift(...target.split("/").filter((word) => word !== ""));
  }
  return false;
}

function lookNoFurther(file: string) {
  try {
    return lstatSync(file, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function isSystem(file: string, folders: readonly string[]): boolean {
  return folders.some((folder) => file.startsWith(`${folder}/`));
}

function realPath(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch {
    return undefined;
  }
}
