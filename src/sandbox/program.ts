import { Buffer } from "node:buffer";
import { closeSync, constants, openSync, readSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { findExecutable } from "../adapter/executable.ts";
import { FIXED_PATH } from "./environment.ts";

/** What `argv[0]` of a hook names. `warning` is a reason why it may well fail in the sandbox. */
export type ResolvedProgram =
  | { ok: true; file: string; warning?: string }
  | { ok: false; reason: string };

/** As much of a file as the kernel looks at for `#!`; the header of a program lies within it, too. */
const HEAD_BYTES = 256;
/** A `#!` of a script may name a script; the kernel follows this many. */
const MOST_INTERPRETERS = 5;

/** Folders where version managers keep stand-ins, which start the real program as a second process. */
const SHIM_FOLDER = /\/(?:shims|\.volta\/bin|\.proto\/shims)\//;
const SHIM_TEXT = /\b(?:pyenv|rbenv|nodenv|goenv|jenv|plenv|phpenv|asdf|mise)\b[^\n]*\bexec\b/;
const ELF_MACHINES: Readonly<Record<string, number>> = { x64: 62, arm64: 183 };
const ELF_MACHINE_AT = 18;
/** How programs of macOS begin, for one kind of machine or for several. Which of these fits is left to the system. */
const MACH_O = ["cffaedfe", "cafebabe", "cafebabf"];

export interface ResolveOptions {
  controlDir: string;
  /** Default: the fixed PATH. */
  searchPath?: string;
  /** Default: this machine's, as Node names it. */
  arch?: string;
  /** Default: this machine's, as Node names it. */
  platform?: string;
}

/**
 * Finds the program when the hook is loaded: with a slash it is relative to the control folder, a bare name is looked up in the fixed
 * PATH. The file must be one that the kernel can start, down to the interpreter of its first line.
 */
export function resolveProgram(name: string, options: ResolveOptions): ResolvedProgram {
  const searchPath = options.searchPath ?? FIXED_PATH;
  const found = findExecutable(name, options.controlDir, searchPath);
  if (!found.ok) {
    const fix = found.reason === "it is not executable" ? " (chmod +x)" : "";
    return { ok: false, reason: found.reason + fix };
  }
  const warning = shimWarning(found.file);
  const problem = whyNotStartable(found.file, options, 0);
  if (problem !== undefined) return { ok: false, reason: problem };
  const indirect = warning ?? interpreterShim(found.file, searchPath);
  return indirect === undefined ? found : { ...found, warning: indirect };
}

function whyNotStartable(file: string, options: ResolveOptions, depth: number): string | undefined {
  const head = readHead(file);
  // Executable but not readable is fine for a program.
  if (head === undefined || head.length === 0) return head === undefined ? undefined : "it is empty";
  const isForMacos = (options.platform ?? process.platform) === "darwin";
  if (isForMacos && MACH_O.includes(head.toString("hex", 0, 4))) return undefined;
  if (!isForMacos && head.subarray(0, 4).toString("latin1") === "\x7fELF") {
    return whyWrongMachine(head, options.arch);
  }
  const script = readScript(head);
  if (script === undefined) return "it is neither a program nor a script with a first line #!";
  if (depth >= MOST_INTERPRETERS) return "its interpreters are scripts without end";
  if (script.interpreter === "") return "its first line #! names no interpreter";
  if (script.interpreter.includes("\r")) {
    return "its first line ends in a carriage return, which becomes part of the name";
  }
  if (!path.isAbsolute(script.interpreter)) {
    return `its interpreter ${script.interpreter} is not an absolute path`;
  }
  const found = findExecutable(script.interpreter, "/", undefined);
  if (!found.ok) return `its interpreter ${script.interpreter}: ${found.reason}`;
  const wanted = envTarget(script);
  if (wanted !== undefined) {
    const target = findExecutable(wanted, options.controlDir, options.searchPath ?? FIXED_PATH);
    if (!target.ok) return `its interpreter ${wanted}: ${target.reason}`;
  }
  return whyNotStartable(found.file, options, depth + 1);
}

function whyWrongMachine(head: Buffer, arch: string = process.arch): string | undefined {
  const machine = head.length > ELF_MACHINE_AT + 1 ? head.readUInt16LE(ELF_MACHINE_AT) : 0;
  const own = ELF_MACHINES[arch];
  return own === undefined || machine === own ? undefined : "it is a program for another kind of machine";
}

/** Version managers' stand-ins cannot work at the floor: they start the real program as another process. */
function shimWarning(file: string): string | undefined {
  const isShim = SHIM_FOLDER.test(file) || SHIM_TEXT.test(readHead(file, 4096)?.toString("latin1") ?? "");
  if (!isShim) return undefined;
  return `${file} is a version manager's stand-in that starts the real program as another process: ` +
    "name the real program, or set subprocess: true";
}

function interpreterShim(file: string, searchPath: string): string | undefined {
  const head = readHead(file);
  const script = head ? readScript(head) : undefined;
  if (!script) return undefined;
  const wanted = envTarget(script);
  const found = wanted === undefined
    ? { ok: true as const, file: script.interpreter }
    : findExecutable(wanted, "/", searchPath);
  return found.ok ? shimWarning(found.file) : undefined;
}

interface Script {
  interpreter: string;
  argument: string;
}

function readScript(head: Buffer): Script | undefined {
  if (head.subarray(0, 2).toString("latin1") !== "#!") return undefined;
  const [line = ""] = head.subarray(2).toString("utf8").split("\n");
  const text = line.replace(/^[ \t]+|[ \t]+$/g, "");
  const [interpreter = ""] = text.split(/[ \t]/, 1);
  return { interpreter, argument: text.slice(interpreter.length).trim() };
}

/** The program that `#!/usr/bin/env NAME` looks up. */
function envTarget(script: Script): string | undefined {
  if (path.basename(script.interpreter) !== "env") return undefined;
  const [first = ""] = script.argument.replace(/^-S\s+/, "").split(/\s/, 1);
  return first !== "" && !first.startsWith("-") && !first.includes("=") ? first : undefined;
}

function readHead(file: string, size = HEAD_BYTES): Buffer | undefined {
  let fd: number;
  try {
    // A FIFO would wait for its other end.
    fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    const buffer = Buffer.alloc(size);
    return buffer.subarray(0, readSync(fd, buffer, 0, size, 0));
  } catch {
    return undefined;
  } finally {
    closeSync(fd);
  }
}
