import { Buffer } from "node:buffer";
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import type { Clock } from "../clock/clock.ts";
import { endTree, treeRoot } from "./end_tree.ts";
import { errorCode } from "./executable.ts";

export type OnChunk = (chunk: Uint8Array, total: number) => void;

export interface SpawnTreeOptions {
  /** `argv[0]` is an absolute path. */
  argv: readonly string[];
  cwd: string;
  /** The child's whole environment, without what `childEnv` strips; a marker variable is added. */
  env: Readonly<Record<string, string>>;
  /** Written whole, then the stream ends. Default: nothing but the end. */
  stdin?: string | Uint8Array;
  clock: Clock;
  /** Between SIGTERM and SIGKILL, on the clock. Default 2000. */
  graceMs?: number;
  /** Each chunk as it is read, with the bytes so far, itself included. Chunks split characters anywhere. */
  onStdout?: OnChunk;
  onStderr?: OnChunk;
}

export type TreeEnd =
  | { status: "launch_failed"; reason: string }
  /** `left`: processes of the tree that could not be ended, 0 nearly always. */
  | { status: "exited"; code: number; left: number }
  | { status: "signaled"; signal: string; left: number }
  /** The child did not go although it was killed. */
  | { status: "stuck"; left: number };

export interface ProcessTree {
  /** Undefined when it was not launched. */
  readonly pid: number | undefined;
  /**
   * Settles, never fails, when the child has ended, what it had written by then is read, and its whole tree is gone.
   * Its pipes may still be held open elsewhere.
   */
  readonly ended: Promise<TreeEnd>;
  /**
   * Ends the whole tree; resolves with `ended`. With `now` there is no grace, nor any more of one that has begun. May be
   * called again, and after the end.
   */
  kill(options?: { now?: boolean }): Promise<TreeEnd>;
}

const DEFAULT_GRACE_MS = 2000;
/** After the exit: what is in the pipes has been read when this many polls in a row saw nothing. Real time. */
const QUIET_POLLS = 5;
const DRAIN_POLL_MS = 10;
const MOST_DRAIN_POLLS = 50;
/** For the exit of a child whose tree is gone to be reported. Real time. */
const STUCK_MS = 2000;

/**
 * Starts a process in a group and session of its own, with pipes on all three streams. It ends when the process
 * ends, not when its pipes do, and what it leaves behind is ended with it.
 */
export function spawnTree(options: SpawnTreeOptions): ProcessTree {
  const { argv, cwd, env, stdin, clock, graceMs = DEFAULT_GRACE_MS } = options;
  const [file, ...args] = argv;
  const marker = newMarker();
  let child: ChildProcessWithoutNullStreams;
  try {
    if (file === undefined) throw new Error("there is no argv[0]");
    child = spawn(file, args, { cwd, env: { ...env, [marker]: "1" }, detached: true, stdio: "pipe" });
  } catch (error) {
    return notLaunched(Promise.resolve(launchReason(error, cwd)));
  }
  const launchError = new Promise<string>((resolve) =>
    child.on("error", (error) => resolve(launchReason(error, cwd)))
  );
  // Without descriptors left a runtime gives a child without streams, or with some of them.
  if (!child.stdin || !child.stdout || !child.stderr) {
    return notLaunched(Promise.race([launchError, Promise.resolve("there are too many open files")]));
  }
  // A child that does not read its input is no error here.
  child.stdin.on("error", () => {});
  const { pid } = child;
  if (pid === undefined) return notLaunched(launchError);

  const root = treeRoot(pid, marker);
  const out = read(child.stdout, options.onStdout);
  const err = read(child.stderr, options.onStderr);
  const exit = new Promise<{ code: number | null; signal: string | null }>((resolve) =>
    child.on("exit", (code, signal) => resolve({ code, signal }))
  );
  child.stdin.end(stdin ?? "");

  let ending: Promise<number> | undefined;
  const hurry = new AbortController();
  const end = () => (ending ??= endTree(root, clock, graceMs, hurry.signal));
  let reportStuck = () => {};
  const stuck = new Promise<undefined>((resolve) => (reportStuck = () => resolve(undefined)));

  const finish = async (): Promise<TreeEnd> => {
    const result = await Promise.race([exit, stuck]);
    await drain(out, err);
    child.stdin.destroy();
    child.stdout.destroy();
    child.stderr.destroy();
    const left = await end();
    if (!result) return { status: "stuck", left };
    if (result.signal !== null) return { status: "signaled", signal: result.signal, left };
    return { status: "exited", code: result.code ?? 0, left };
  };
  const ended = finish();

  return {
    pid,
    ended,
    async kill({ now = false } = {}) {
      if (now) hurry.abort();
      await end();
      const timer = setTimeout(reportStuck, STUCK_MS);
      try {
        return await ended;
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

/** The name is drawn afresh from the system's randomness: whoever carries it is killed with the tree. */
function newMarker(): string {
  return `REYN_TREE_${Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString("hex")}`;
}

function notLaunched(reason: Promise<string>): ProcessTree {
  const ended = reason.then((text): TreeEnd => ({ status: "launch_failed", reason: text }));
  return { pid: undefined, ended, kill: () => ended };
}

function launchReason(error: unknown, cwd: string): string {
  const code = errorCode(error);
  switch (code) {
    case "ENOENT":
      return existsSync(cwd)
        ? "it, or the interpreter of its first line, does not exist"
        : `there is no folder ${cwd}`;
    case "EACCES":
      return "it is not executable (EACCES)";
    case "ENOEXEC":
      return "it is neither a program nor a script with a first line #! (ENOEXEC)";
    case "E2BIG":
      return "its arguments and environment are too long (E2BIG)";
    default:
      return code;
  }
}

interface Reading {
  total: number;
  /** Settles at the end of the stream. */
  ended: Promise<void>;
}

function read(stream: ChildProcessWithoutNullStreams["stdout"], callback: OnChunk | undefined): Reading {
  let end = () => {};
  const reading: Reading = { total: 0, ended: new Promise((resolve) => (end = resolve)) };
  stream.on("data", (chunk: Uint8Array) => {
    reading.total += chunk.length;
    callback?.(chunk, reading.total);
  });
  stream.on("end", () => end());
  stream.on("close", () => end());
  stream.on("error", () => end());
  return reading;
}

/** Reads on until both streams end, or, when someone else holds them open, until they have been quiet for a while. */
async function drain(out: Reading, err: Reading): Promise<void> {
  let open = true;
  const ended = Promise.all([out.ended, err.ended]).then(() => {
    open = false;
  });
  let seen = -1;
  let quiet = 0;
  for (let poll = 0; open && poll < MOST_DRAIN_POLLS && quiet < QUIET_POLLS; poll++) {
    let timer: ReturnType<typeof setTimeout> | undefined;
    await Promise.race([ended, new Promise((resolve) => (timer = setTimeout(resolve, DRAIN_POLL_MS)))]);
    clearTimeout(timer);
    quiet = out.total + err.total === seen ? quiet + 1 : 0;
    seen = out.total + err.total;
  }
}
