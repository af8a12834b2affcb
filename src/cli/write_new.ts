import { lstatSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { errorCode } from "../adapter/executable.ts";
import { quote } from "../errors/quote.ts";
import { ReynError } from "../errors/reyn_error.ts";

/** Whether anything has this name: a link that leads nowhere, too. */
export function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/**
 * Writes a file that is not there yet, with the folder it lies in. Never overwrites and never follows a link at its
 * place. Answers false where something has that name. Throws E_INIT_WRITE where it cannot be written.
 */
export function writeNew(path: string, text: string): boolean {
  const folder = dirname(path);
  const problem = folderProblem(folder);
  if (problem !== undefined) throw cannot(folder, problem);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw cannot(folder, errorCode(error));
  }
  try {
    writeFileSync(path, text, { flag: "wx" });
    return true;
  } catch (error) {
    const code = errorCode(error);
    if (code === "EEXIST") return false;
    // Half of a file is worse than none: it would be kept by the next try.
    if (code !== "EACCES") rmSync(path, { force: true });
    throw cannot(path, code);
  }
}

function folderProblem(folder: string): string | undefined {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  if (stat?.isSymbolicLink()) return "it is a symlink";
  return stat && !stat.isDirectory() ? "it is not a folder" : undefined;
}

function cannot(path: string, reason: string): ReynError {
  return new ReynError("E_INIT_WRITE", `${quote(path, 200)} cannot be written: ${reason}`);
}
