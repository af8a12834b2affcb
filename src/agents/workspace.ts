import { statSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "../adapter/executable.ts";
import { isInside } from "../config/authority.ts";
import { canonicalPath, isUnder } from "../config/canonical_path.ts";
import type { SectionContext } from "../config/section.ts";
import { quote } from "../errors/quote.ts";
import { ReynError } from "../errors/reyn_error.ts";

/** The folder that an agent works in. */
export interface Workspace {
  /** Absolute, symlinks followed. Need not exist. */
  path: string;
  /** Why nothing may run there. Only of a default: a folder that is named and cannot be used is an error instead. */
  refused?: string;
}

const DEFAULT_WORKSPACE = "workspace";
const SHOWN = 200;

type Place = Pick<SectionContext, "controlDir" | "home">;

/** The workspace that an agent names. Paths of the context are relative to that value. Reports E_WORKSPACE, W_WORKSPACE. */
export function namedWorkspace(text: string, context: SectionContext): Workspace {
  const path = canonicalPath(context.resolve(text));
  const problem = text.includes("\0") ? "holds a NUL character" : problemOf(path, context);
  if (problem !== undefined) {
    context.report([], "E_WORKSPACE", `${quote(text, SHOWN)} ${problem}`, "name another folder");
    return { path };
  }
  const held = ownFilesIn(path, context);
  if (held !== undefined) {
    const message = `${quote(text, SHOWN)} ${held}, so that what works there works among reyn's own files`;
    context.report([], "W_WORKSPACE", message, "name a folder of its own");
  }
  return { path };
}

/**
 * The workspace of agents that name none. What is wrong with it nobody has said, so it stops no start: it is reported
 * as W_WORKSPACE, and `makeWorkspace` refuses it.
 */
export function defaultWorkspace(context: SectionContext): Workspace {
  const named = join(context.controlDir, DEFAULT_WORKSPACE);
  const path = canonicalPath(named);
  const refused = isInside(named, context.controlDir)
    ? problemOf(path, context)
    : `is a symlink that leaves the control folder, to ${quote(path, SHOWN)}`;
  const said = refused ?? ownFilesIn(path, context);
  if (said !== undefined) {
    const message = `the default workspace, ${quote(DEFAULT_WORKSPACE)}, ${said}`;
    context.report([], "W_WORKSPACE", message, "name a folder: agents.<name>.workspace");
  }
  return refused === undefined ? { path } : { path, refused };
}

/** Where there is no agent to ask: nothing may run there. */
export function unusedWorkspace(controlDir: string): Workspace {
  return { path: join(controlDir, DEFAULT_WORKSPACE), refused: "belongs to no agent" };
}

/**
 * Makes the workspace where it is missing, with its parents, in mode 0755 less the umask, and answers its path. Throws
 * E_WORKSPACE when it cannot be made or used, and when symlinks now lead elsewhere than when the configuration was read.
 */
export async function makeWorkspace({ path, refused }: Workspace): Promise<string> {
  if (refused !== undefined) throw unusable(path, refused);
  requireSame(path);
  try {
    await mkdir(path, { recursive: true, mode: 0o755 });
  } catch (error) {
    throw unusable(path, `cannot be made: ${reasonOf(errorCode(error))}`);
  }
  requireSame(path);
  return path;
}

function requireSame(path: string): void {
  const now = canonicalPath(path);
  if (now !== path) throw unusable(path, `now leads to ${quote(now, SHOWN)}`);
}

function unusable(path: string, problem: string): ReynError {
  return new ReynError("E_WORKSPACE", `the workspace ${quote(path, SHOWN)} ${problem}`, {
    fix: "put a folder in its place, or name another one: agents.<name>.workspace",
  });
}

/** Why no agent may work there. */
function problemOf(path: string, place: Place): string | undefined {
  const own = ownFolders(place).find((folder) => isUnder(path, folder));
  if (own !== undefined) return `lies in ${quote(own, SHOWN)}, where reyn keeps what is its own`;
  try {
    return statSync(path).isDirectory() ? undefined : "is not a folder";
  } catch (error) {
    const code = errorCode(error);
    return code === "ENOENT" ? undefined : `cannot be used: ${reasonOf(code)}`;
  }
}

/** What of reyn's a workspace holds, where it holds any. */
function ownFilesIn(path: string, place: Place): string | undefined {
  const control = canonicalPath(place.controlDir);
  if (path === control) return "is the control folder";
  if (isUnder(control, path)) return "contains the control folder";
  const own = ownFolders(place).find((folder) => isUnder(folder, path));
  return own === undefined ? undefined : `contains ${quote(own, SHOWN)}`;
}

function ownFolders({ controlDir, home }: Place): string[] {
  return [...new Set([controlDir, home].map((folder) => canonicalPath(join(folder, ".reyn"))))];
}

const REASONS: Readonly<Record<string, string>> = {
  EEXIST: "a file stands in its place",
  ENOTDIR: "a part of its path is not a folder",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  ELOOP: "its symlinks go in a circle",
  ENAMETOOLONG: "its name is too long",
};

function reasonOf(code: string): string {
  return REASONS[code] ?? code;
}
