import { existsSync, realpathSync, statSync } from "node:fs";

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
export type Look = { status: "none" } | { status: "link"; value: string } | { status: "content" };

/**
 * Whether an absolute path is a system's file, by its name and by where it leads. A name among the system's that leads
 * elsewhere is covered like any other.
 */
export function namesSystemFile(file: string, folders: readonly string[] = SYSTEM_FOLDERS): boolean {
  return isSystem(file, folders) && isSystem(realPath(file) ?? file, folders);
}

/** What of the file at an absolute path an approval is bound to. */
export function lookAt(file: string, folders: readonly string[] = SYSTEM_FOLDERS): Look {
  // Most words of an argv are no files; this is the cheapest way to tell.
  if (!existsSync(file)) return { status: "none" };
  const target = realPath(file);
  // Of an interpreter that is linked into a project it counts which one it is; upgrades of the system do not.
  if (target !== undefined && target !== file && isSystem(target, folders)) {
    const isFile = statSync(target, { throwIfNoEntry: false })?.isFile() === true;
    return isFile ? { status: "link", value: `-> ${target}` } : { status: "none" };
  }
  return { status: "content" };
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
