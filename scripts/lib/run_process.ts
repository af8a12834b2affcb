import { spawn } from "node:child_process";
import { env as ownEnv } from "node:process";
import { stripVTControlCharacters } from "node:util";
import { REPO } from "./repo.ts";

export interface ProcessOptions {
  cwd?: string;
  /** Added to the environment; `undefined` removes a variable. */
  env?: Record<string, string | undefined>;
  /** The process is killed after this; default 15 minutes. */
  timeoutMs?: number;
  /** Passes the output through instead of collecting it. */
  inherit?: boolean;
}

export interface ProcessResult {
  /** Exit code, 128+n after signal n, 127 when it could not be started, 124 after the time-out. */
  code: number;
  /** Both streams as they came, without colour. */
  output: string;
  seconds: number;
}

const SIGNAL_NUMBERS: Record<string, number> = { SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 };

/** Runs a tool of the build to its end and never throws. */
export function runProcess(
  file: string,
  args: readonly string[],
  options: ProcessOptions = {},
): Promise<ProcessResult> {
  const started = performance.now();
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries({ ...ownEnv, NO_COLOR: "1", ...options.env })) {
    if (value !== undefined) env[name] = value;
  }
  return new Promise((resolve) => {
    const chunks: string[] = [];
    const child = spawn(file, args, {
      cwd: options.cwd ?? REPO,
      env,
      stdio: options.inherit ? "inherit" : ["ignore", "pipe", "pipe"],
    });
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      child.kill("SIGKILL");
    }, options.timeoutMs ?? 15 * 60_000);
    const finish = (code: number) => {
      clearTimeout(timer);
      if (timedOut) chunks.push(`\nended after ${(options.timeoutMs ?? 900_000) / 1000} s without an end\n`);
      const output = stripVTControlCharacters(chunks.join(""));
      resolve({ code: timedOut ? 124 : code, output, seconds: (performance.now() - started) / 1000 });
    };
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => chunks.push(text));
    }
    child.on("error", (error) => {
      chunks.push(`${file}: ${error.message}\n`);
      finish(127);
    });
    child.on("close", (code, signal) => finish(code ?? 128 + (SIGNAL_NUMBERS[signal ?? ""] ?? 0)));
  });
}
