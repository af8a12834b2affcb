import { closeSync, existsSync, openSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { ReynError } from "../errors/reyn_error.ts";

/** What a file system answers that takes no writes, or none of this user. */
const REFUSALS: ReadonlySet<unknown> = new Set(["EROFS", "EACCES", "EPERM"]);

/**
 * E_STATE_UNWRITABLE when no file can be made in the folder `dir`, or in the nearest one above it that exists; nothing when one can,
 * or when it fails for another reason. (Asking for the right to write does not do: not every runtime asks the kernel.)
 */
export function refusedWrite(dir: string, cause: unknown): ReynError | undefined {
  let folder = dir;
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  const path = join(folder, `.writable-${process.pid}`);
  try {
    closeSync(openSync(path, "wx", 0o600));
    rmSync(path, { force: true });
    return undefined;
  } catch (error) {
    const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
    return REFUSALS.has(code) ? unwritable(folder, String(code), cause) : undefined;
  }
}

/** @param said why, in the words of who refused it */
export function unwritable(path: string, said: string, cause: unknown): ReynError {
  const fix = said === "EROFS"
    ? "its file system is mounted read-only: mount it for writing, or use another control folder"
    : "let the user that reyn runs as write the folder and what is in it";
  return new ReynError("E_STATE_UNWRITABLE", `${path} cannot be written (${said}); nothing was stored`, {
    fix,
    cause,
  });
}
