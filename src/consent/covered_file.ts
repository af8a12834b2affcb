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

/** What of the file at an absolute path an approval is bound to. */
export function lookAt(file: string, folders: readonly string[] = SYSTEM_FOLDERS): Look {
  // It stands there to be read by whoever approves it, and there is no content to be bound to.
  if (isOfProcess(file)) return { status: "none" };
  const link = leadsToProcess(file);
  if (link) {
    return {
      status: "refused",
      reason: "a link in it leads into /proc, where a name means another file in each process",
    };
  }
  // Most words of an argv are no files.
  if (link === undefined) return { status: "none" };
  const target = realPath(file);
  // Of an interpreter that is linked into a project it counts which one it is; upgrades of the system do not.
  if (target !== undefined && target !== file && isSystem(target, folders)) {
    const isFile = statSync(target, { throwIfNoEntry: false })?.isFile() === true;
    return isFile ? { status: "link", value: `-> ${target}` } : { status: "none" };
  }
  return { status: "content" };
}

/** Whether a name is one of a process: no program may have such a name. */
export function isOfProcess(file: string): boolean {
  return isSystem(file, PROCESS_FOLDERS);
}

/** Whether a link on the way of an absolute path leads into /proc; undefined where nothing is there. */
function leadsToProcess(file: string): boolean | undefined {
  if (existsSync(file) && realPath(file) === file) return false;
  let at = "/";
  let links = 0;
  const rest = file.split("/").filter((part) => part !== "");
  for (let part = rest.shift(); part !== undefined; part = rest.shift()) {
    if (part === ".") continue;
    const next = part === ".." ? dirname(at) : join(at, part);
    if (next === "/proc" && links > 0) return true;
    const stat = part === ".." ? undefined : lookNoFurther(next);
    if (part !== ".." && stat === undefined) return undefined;
    if (!stat?.isSymbolicLink()) {
      at = next;
      continue;
    }
    if (++links > MOST_LINKS) return undefined;
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
