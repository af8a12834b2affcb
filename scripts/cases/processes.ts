import { Buffer } from "node:buffer";
import { type ChildProcess, spawn } from "node:child_process";
import { isAbsolute, resolve } from "node:path";
import { childOf, sendSignal } from "./leftovers.ts";
import { poll } from "./poll.ts";
import { shellCode } from "./signals.ts";

/** More output than this ends a process. */
const MOST_OUTPUT = 256 * 2 ** 20;
/** How long the pipes of an ended process are read on, when something else still holds them. */
const DRAIN_MS = 300;

export interface StartOptions {
  argv: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** In a terminal of its own; needs script(1) of util-linux. */
  tty: boolean;
  /** Written, then closed. `open` leaves it open for later; absent means no input at all. */
  stdin?: Buffer | "open";
}

export interface Running {
  label: string;
  /** Ids of the process and, in a terminal, of what runs there, as far as they are known. */
  pids(): number[];
  stdout(): string;
  stderr(): string;
  /** Exit code as a shell shows it, when ended. */
  exit(): number | undefined;
  /** The exit code, or undefined when the time is over first. */
  waitExit(timeoutMs: number): Promise<number | undefined>;
  /** False when it has ended already. */
  signal(name: string): Promise<boolean>;
  send(bytes: Buffer): void;
  closeStdin(): void;
}

/** Starts a process whose output is kept. Rejects when it cannot be started. */
export async function startProcess(options: StartOptions): Promise<Running> {
  const file = options.argv[0] ?? "";
  const program = file.includes("/") && !isAbsolute(file) ? resolve(options.cwd, file) : file;
  const own = [program, ...options.argv.slice(1)];
  const [command = "", ...args] = options.tty ? inTerminal(own) : own;
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: options.env,
    stdio: [options.stdin === undefined && !options.tty ? "ignore" : "pipe", "pipe", "pipe"],
  });
  const running = watch(child, options);
  await new Promise<void>((started, failed) => {
    child.once("spawn", () => started());
    child.once(
      "error",
      (error) => failed(new Error(`${options.argv.join(" ")} could not be started: ${error.message}`)),
    );
  });
  child.on("error", () => undefined);
  return running;
}

function watch(child: ChildProcess, options: StartOptions): Running {
  const output = { stdout: [] as Buffer[], stderr: [] as Buffer[], bytes: 0 };
  let code: number | undefined;
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.on("data", (chunk: Buffer) => {
      output[name].push(chunk);
      output.bytes += chunk.length;
      if (output.bytes > MOST_OUTPUT) child.kill("SIGKILL");
    });
  }
  const ended = new Promise<number>((done) => {
    let drained = false;
    child.once("close", () => drained = true);
    child.once("exit", (status, signal) => {
      void poll(DRAIN_MS, () => drained || undefined).then(() => {
        code = shellCode(status, signal);
        done(code);
      });
    });
  });
  child.stdin?.on("error", () => undefined);
  if (options.stdin instanceof Buffer) child.stdin?.end(options.stdin);

  const read = (name: "stdout" | "stderr"): string => {
    const text = Buffer.concat(output[name]).toString("utf8");
    return options.tty ? text.replaceAll("\r\n", "\n") : text;
  };
  let inside: number | undefined;
  const target = async (): Promise<number | undefined> => {
    if (!options.tty || child.pid === undefined) return child.pid;
    const terminal = child.pid;
    inside ??= await poll(2000, () => childOf(terminal));
    return inside;
  };
  if (options.tty) void target();
  return {
    label: options.argv.join(" "),
    pids: () => [child.pid, inside].filter((pid) => pid !== undefined),
    stdout: () => read("stdout"),
    stderr: () => read("stderr"),
    exit: () => code,
    async waitExit(timeoutMs) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const over = new Promise<undefined>((done) => timer = setTimeout(() => done(undefined), timeoutMs));
      const result = await Promise.race([ended, over]);
      clearTimeout(timer);
      return result;
    },
    async signal(name) {
      if (code !== undefined || child.exitCode !== null || child.signalCode !== null) return false;
      const pid = await target();
      return pid !== undefined && sendSignal(pid, name);
    },
    send: (bytes) => void child.stdin?.write(bytes),
    closeStdin: () => void child.stdin?.end(),
  };
}

/** script(1) gives a terminal, passes the exit code on, and dies with what it runs. */
function inTerminal(argv: readonly string[]): string[] {
  const quoted = argv.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
  return ["script", "-q", "-e", "-f", "-c", `exec ${quoted}`, "/dev/null"];
}
