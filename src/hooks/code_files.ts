import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { expandPath, type PathBase } from "../sandbox/paths.ts";

/** What interpreters are given to run. */
const CODE_NAME =
  /\.(?:[cm]?[jt]sx?|py|pyc|pl|pm|rb|php|lua|sh|bash|zsh|fish|awk|sed|jq|tcl|r|jl|exs?|wasm|jar|so)$/i;

/**
 * The words of an argv that name code: its program, and files that are executable, begin with `#!` or are called like a
 * script. Nothing may write these, whatever is granted; a file that a command is to write is none of them.
 */
export function codeFiles(argv: readonly string[], base: PathBase): string[] {
  return argv.filter((word, index) => index === 0 || expandPath(word, base).some((file) => isCode(file)));
}

function isCode(file: string): boolean {
  let fd: number;
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    // What cannot be looked at is judged by its name.
    return CODE_NAME.test(file);
  }
  try {
    const info = fstatSync(fd);
    if (!info.isFile()) return false;
    if ((info.mode & 0o111) !== 0 || CODE_NAME.test(file)) return true;
    const head = new Uint8Array(2);
    return readSync(fd, head, 0, 2, 0) === 2 && head[0] === 0x23 && head[1] === 0x21;
  } catch {
    // Files of /proc look like others and cannot all be read.
    return false;
  } finally {
    closeSync(fd);
  }
}
