import { Buffer } from "node:buffer";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { Readable } from "node:stream";
import { errorCode } from "../../adapter/executable.ts";
import { REPORT_FD } from "./helper_arguments.ts";

export interface LaunchOptions {
  file: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  stdin: string | Uint8Array;
  onStdout: (chunk: Uint8Array) => void;
  onStderr: (chunk: Uint8Array) => void;
  /** The report so far, each time there is more of it. */
  onReport?: (text: string) => void;
}

/** `asked`: what was asked for cannot be started, whatever the helper does. */
export type LaunchEnd = { launched: false; asked: boolean; reason: string } | {
  launched: true;
  report: string;
};

export interface Launched {
  ended: Promise<LaunchEnd>;
  /** Signals the helper. */
  kill(signal: "SIGTERM" | "SIGKILL"): void;
}

/** Far more than the helper ever says. */
const LARGEST_REPORT = 64 * 1024;
/** Once the helper has ended its streams end by themselves, since nobody else holds them. Real time. */
const STREAM_END_MS = 2000;

/** Starts the helper with pipes for the program's streams and its report, and waits for all of it to end. */
export function launch(options: LaunchOptions): Launched {
  let child: ChildProcess;
  try {
    child = spawn(options.file, [...options.args], {
      cwd: options.cwd,
      env: { ...options.env },
      stdio: ["pipe", "pipe", "pipe", "pipe"],
    });
  } catch (error) {
    return notLaunched(errorCode(error), options.cwd);
  }
  const failure = new Promise<string>((resolve) => child.on("error", (error) => resolve(errorCode(error))));
  const report = child.stdio?.[REPORT_FD];
  const { stdin, stdout, stderr } = child;
  if (child.pid === undefined || !stdin || !stdout || !stderr || !(report instanceof Readable)) {
    return {
      ended: failure.then((code) => failedToLaunch(code, options.cwd)),
      kill() {},
    };
  }

  const chunks: Uint8Array[] = [];
  let reported = 0;
  const streams = Promise.all([
    read(stdout, options.onStdout),
    read(stderr, options.onStderr),
    read(report, (chunk) => {
      reported += chunk.length;
      if (reported > LARGEST_REPORT) return;
      chunks.push(chunk);
      options.onReport?.(textOf(chunks));
    }),
  ]);
  // A program that does not read its input is no error here.
  stdin.on("error", () => {});
  stdin.end(options.stdin);
  const exit = new Promise<void>((resolve) => child.on("exit", () => resolve()));

  const finish = async (): Promise<LaunchEnd> => {
    // The report ends with the helper, which alone holds it, a little before the runtime is told of its exit.
    await Promise.race([streams, exit.then(() => within(STREAM_END_MS, streams))]);
    for (const stream of [stdin, stdout, stderr, report]) stream.destroy();
    return { launched: true, report: textOf(chunks) };
  };
  return { ended: finish(), kill: (signal) => void child.kill(signal) };
}

function textOf(chunks: readonly Uint8Array[]): string {
  return Buffer.concat(chunks).toString("utf8");
}

function notLaunched(code: string, cwd: string): Launched {
  return { ended: Promise.resolve(failedToLaunch(code, cwd)), kill() {} };
}

function failedToLaunch(code: string, cwd: string): LaunchEnd {
  const failed = (asked: boolean, reason: string) => ({ launched: false, asked, reason }) as const;
  if (code === "ENOENT" && !existsSync(cwd)) return failed(true, `there is no folder ${cwd}`);
  if (code === "E2BIG") return failed(true, "its arguments and environment are too long (E2BIG)");
  return failed(false, `the sandbox's helper does not start (${code})`);
}

function read(stream: Readable, onChunk: (chunk: Uint8Array) => void): Promise<void> {
  return new Promise((resolve) => {
    stream.on("data", onChunk);
    // Each of these alone has been seen to be the only one.
    stream.on("end", resolve);
    stream.on("close", resolve);
    stream.on("error", () => resolve());
  });
}

async function within(ms: number, promise: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  await Promise.race([promise, new Promise((resolve) => (timer = setTimeout(resolve, ms)))]);
  clearTimeout(timer);
}
