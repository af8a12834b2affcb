import { type ChildProcess, spawn } from "node:child_process";
import { performance } from "node:perf_hooks";
import process from "node:process";

export interface Ended {
  args: readonly string[];
  /** Null when a signal ended it. */
  code: number | null;
  signal: string | null;
  stdout: string;
  stderr: string;
  ms: number;
  /** It was killed because it did not end by itself. */
  hung: boolean;
}

export interface Started {
  readonly pid: number | undefined;
  /** What came on stdout so far. */
  stdout(): string;
  /** Resolves with true when stdout holds `text`, with false when the process ends without. */
  saw(text: string): Promise<boolean>;
  kill(signal: NodeJS.Signals): void;
  readonly ended: Promise<Ended>;
}

export interface StartOptions {
  cwd: string;
  /** The whole environment. */
  env: Readonly<Record<string, string>>;
  stdin?: string;
  /** After this it hangs. Default 30 s. */
  limitMs?: number;
}

/** Starts a process. Only that process is ever signalled. */
export function start(file: string, args: readonly string[], options: StartOptions): Started {
  const began = performance.now();
  const child: ChildProcess = spawn(file, args, {
    cwd: options.cwd,
    env: options.env,
    stdio: [options.stdin === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  let hung = false;
  const waiting: { text: string; resolve: (seen: boolean) => void }[] = [];
  const look = (over: boolean) => {
    for (const one of waiting.splice(0)) {
      if (stdout.includes(one.text)) one.resolve(true);
      else if (over) one.resolve(false);
      else waiting.push(one);
    }
  };
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    if (waiting.length > 0) look(false);
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => stderr += text);
  child.stdin?.on("error", () => {});
  child.stdin?.end(options.stdin);
  // `child.kill` sends a second signal on some runtimes only.
  const send = (signal: NodeJS.Signals) => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    try {
      process.kill(child.pid, signal);
    } catch {
      // It has just ended.
    }
  };
  const timer = setTimeout(() => {
    hung = true;
    send("SIGKILL");
  }, options.limitMs ?? 30_000);
  const ended = new Promise<Ended>((resolve) => {
    let told: { code: number | null; signal: string | null } = { code: null, signal: null };
    const finish = () => {
      clearTimeout(timer);
      look(true);
      resolve({ args, ...told, stdout, stderr, ms: performance.now() - began, hung });
    };
    child.on("error", (error) => {
      stderr += `could not be started: ${error.message}`;
      told = { code: 127, signal: null };
      finish();
    });
    child.on("close", (code, signal) => {
      told = { code, signal };
      finish();
    });
  });
  return {
    pid: child.pid,
    stdout: () => stdout,
    saw: (text) =>
      new Promise((resolve) => {
        waiting.push({ text, resolve });
        look(child.exitCode !== null || child.signalCode !== null);
      }),
    kill: send,
    ended,
  };
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** What no run of the product may ever show, whatever is done to it; nothing when all is well. */
export function misbehaviour(run: Ended): string | undefined {
  if (run.hung) return `did not end: reyn ${run.args.join(" ")}`;
  const text = run.stderr;
  if (/E_INTERNAL|^\s+at .+[:(]\d+/m.test(text) || /Uncaught|panic|Segmentation/.test(text)) {
    return `a fault of its own: ${text.slice(0, 600)}`;
  }
  if (run.signal !== null && !["SIGKILL", "SIGINT", "SIGTERM"].includes(run.signal)) {
    return `ended by ${run.signal}: ${text.slice(0, 300)}`;
  }
  if (run.code !== null && run.code > 0 && run.code < 128 && !/\bE_[A-Z_]+\b/.test(text)) {
    return `exit ${run.code} without a code: ${text.slice(0, 300)}`;
  }
  return undefined;
}
