import { accessSync, constants, statSync } from "node:fs";
import path from "node:path";

export type FoundExecutable = { ok: true; file: string } | { ok: false; reason: string };

/**
 * What `argv[0]` names: with a slash it is a file relative to `cwd`, without one it is looked up in `searchPath` (the
 * value of PATH; empty and relative entries of it are passed over). The file need not be a program that runs.
 */
export function findExecutable(name: string, cwd: string, searchPath: string | undefined): FoundExecutable {
  if (name === "" || name.includes("\0")) return { ok: false, reason: "it is not a file name" };
  if (name.includes("/")) {
    const file = path.resolve(cwd, name);
    const reason = whyNotExecutable(file);
    return reason === undefined ? { ok: true, file } : { ok: false, reason };
  }
  let reason = "it is not in PATH";
  for (const folder of (searchPath ?? "").split(":")) {
    if (!path.isAbsolute(folder)) continue;
    const file = path.join(folder, name);
    const problem = whyNotExecutable(file);
    if (problem === undefined) return { ok: true, file };
    if (problem !== MISSING) reason = `${file}: ${problem}`;
  }
  return { ok: false, reason };
}

const MISSING = "there is no such file";

function whyNotExecutable(file: string): string | undefined {
  try {
    if (!statSync(file).isFile()) return "it is not a regular file";
  } catch (error) {
    const code = errorCode(error);
    return code === "ENOENT" || code === "ENOTDIR" ? MISSING : `it cannot be read (${code})`;
  }
  try {
    accessSync(file, constants.X_OK);
    return undefined;
  } catch {
    return "it is not executable";
  }
}

/** The system's name for a failure (`ENOENT`), or its message where it has none. */
export function errorCode(error: unknown): string {
  if (error instanceof Error) {
    return "code" in error && typeof error.code === "string" ? error.code : error.message;
  }
  return String(error);
}
