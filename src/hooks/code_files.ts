import { closeSync, constants, fstatSync, openSync, readSync, statSync } from "node:fs";
import { expandPath, type PathBase } from "../sandbox/paths.ts";
import type { PluginAction } from "./exec_action.ts";
import { interpretedFiles } from "./interpreted_file.ts";

/** What interpreters are given to run. */
const CODE_NAME =
  /\.(?:[cm]?[jt]sx?|py|pyc|pl|pm|rb|php|lua|sh|bash|zsh|fish|awk|sed|jq|tcl|r|jl|exs?|wasm|jar|so)$/i;

/**
 * The words of an argv that name code: its program, files that are executable, begin with `#!` or are called like a
 * script, and the file that an interpreter is given to run. Nothing may write these, whatever is granted; a file that a command
 * is to write is none of them.
 */
export function codeFiles(argv: readonly string[], base: PathBase): string[] {
  const run = new Set(interpretedFiles(argv, (word) => expandPath(word, base).some(isFile)));
  return argv.filter((word, index) =>
    index === 0 || run.has(word) || expandPath(word, base).some((file) => isCode(file))
  );
}

/** The code that the commands of hooks name, as absolute paths: no hook may write that of another. */
export function codeOfHooks(
  actions: readonly { argv: readonly string[]; plugin: Pick<PluginAction, "file"> | null }[],
  base: PathBase,
): string[] {
  const files = actions.flatMap(({ argv, plugin }) => {
    if (plugin) return expandPath(plugin.file, base);
    return codeFiles(argv, base)
      // A bare name is a program of the system.
      .filter((word, index) => index > 0 || word.includes("/"))
      .flatMap((word) => expandPath(word, base));
  });
  return [...new Set(files)];
}

/** In these folders a name means what it does to the process that says it. */
const OF_PROCESS = /^\/(?:proc|dev)\//;

function isFile(file: string): boolean {
  if (OF_PROCESS.test(file)) return false;
  try {
    return statSync(file, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return false;
  }
}

function isCode(file: string): boolean {
  if (OF_PROCESS.test(file)) return false;
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
