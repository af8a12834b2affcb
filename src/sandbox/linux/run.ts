import { Buffer } from "node:buffer";
import { randomUUID } from "node:crypto";
import { constants } from "node:os";
import path from "node:path";
import { endTree, type TreeRoot, treeRoot } from "../../adapter/end_tree.ts";
import type { Clock } from "../../clock/clock.ts";
import { explainDenial } from "../denial.ts";
import { DEFAULT_LIMITS, type RunLimits, type SandboxPolicy } from "../policy.ts";
import { mayBeDenied, type RunOutcome, type SandboxRun } from "../result.ts";
import { helperArguments } from "./helper_arguments.ts";
import { deniedCounts, type HelperEnd, type HelperRefusal, readReport } from "./helper_report.ts";
import type { InstalledHelper } from "./install_helper.ts";
import type { Keeper } from "./keeper.ts";
import { launch, type LaunchEnd } from "./launch.ts";
import { headBuffer, tailBuffer } from "./output_buffer.ts";

export interface RunOptions {
  /** `argv[0]` is absolute, as `resolveProgram` gives it. */
  argv: readonly string[];
  /** Absolute. */
  cwd: string;
  /** The program's whole environment. */
  env: Readonly<Record<string, string>>;
  /** Written whole, then the stream ends. Default: nothing but the end. */
  stdin?: string | Uint8Array;
  policy: SandboxPolicy;
  /** On the clock; 0 is none. */
  timeoutMs: number;
  /** `ignore` reads stdout and drops it, however much it is; `capture` keeps it, and ends the run above the limit. */
  stdout: "ignore" | "capture";
  limits?: Partial<RunLimits>;
  /** Ends the run, which then has the outcome `signal`. */
  signal?: AbortSignal;
  clock: Clock;
  /** Runs as under an older Landlock, which refuses no less. For tests. */
  assumeLandlockAbi?: number;
}

/** The helper has its own deadline for when reyn is stuck: this much later, and this many times as late. Real time. */
const BACKSTOP_MS = 10_000;
const BACKSTOP_FACTOR = 2;
/** For the helper to end a tree, when asked to; then it is killed, and the program dies with it. On the clock. */
const HELPER_GRACE_MS = 5000;

/** Why reyn ended a run. */
type Ending = "timeout" | "output_limit" | "cancelled";

/** Runs one program confined, and comes back when it and all that came from it are gone. Never throws. */
export async function runConfined(
  helper: InstalledHelper,
  keeper: Keeper,
  options: RunOptions,
): Promise<SandboxRun> {
  const { clock, policy, signal } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const started = clock.monotonic();
  const stdout = headBuffer(options.stdout === "capture" ? limits.stdoutBytes : 0);
  const stderr = tailBuffer(limits.stderrBytes);
  let ending: Ending | undefined;
  let tree: TreeRoot | undefined;
  const timers: (() => void)[] = [];

  const end = (why: Ending) => {
    if (ending !== undefined) return;
    ending = why;
    launched.kill("SIGTERM");
    timers.push(clock.after(HELPER_GRACE_MS, () => launched.kill("SIGKILL")));
  };
  const launched = launch({
    file: helper.executable,
    args: helperArguments({
      argv: options.argv,
      policy,
      variables: Object.keys(options.env),
      processes: limits.processes,
      backstopMs: options.timeoutMs > 0 ? options.timeoutMs * BACKSTOP_FACTOR + BACKSTOP_MS : 0,
      keeper: keeper.arguments(),
      helperFolder: path.dirname(helper.file),
      assumeLandlockAbi: options.assumeLandlockAbi,
    }),
    cwd: options.cwd,
    env: options.env,
    stdin: options.stdin ?? "",
    onStdout: (chunk) => {
      if (options.stdout === "ignore") return;
      stdout.add(chunk);
      if (stdout.overflowed()) end("output_limit");
    },
    onStderr: (chunk) => stderr.add(chunk),
    onReport: (text) => (tree ??= treeOf(text)),
  });
  const cancel = () => end("cancelled");
  if (options.timeoutMs > 0) timers.push(clock.after(options.timeoutMs, () => end("timeout")));
  signal?.addEventListener("abort", cancel, { once: true });
  if (signal?.aborted) cancel();

  const ended = await launched.ended;
  signal?.removeEventListener("abort", cancel);
  for (const stop of timers) stop();

  const verdict = judge(ended, ending, options);
  if (verdict.end) keeper.note(verdict.end);
  // The helper was killed before it could clear up: what is left of the program's session goes now.
  if (ended.launched && verdict.end === undefined && tree) await endTree(tree, clock, 0);
  const bytes = options.stdout === "capture" ? stdout.bytes() : Buffer.alloc(0);
  const stderrTail = stderr.text();
  const denied = verdict.end ? deniedCounts(verdict.end) : null;
  return {
    outcome: verdict.outcome,
    returncode: returncodeOf(verdict),
    signal: verdict.signal,
    stdout: bytes,
    stdoutText: decode(bytes),
    stderrTail,
    reason: verdict.reason,
    denied,
    denial: mayBeDenied(verdict.outcome) && ending !== "cancelled"
      ? explainDenial({ policy, cwd: options.cwd, denied, stderrTail, argv: options.argv })
      : null,
    leftKilled: verdict.end?.left_killed ?? 0,
    durationMs: clock.monotonic() - started,
  };
}

interface Verdict {
  outcome: RunOutcome;
  exit: number | null;
  signal: string | null;
  reason: string | null;
  end?: HelperEnd;
}

function judge(ended: LaunchEnd, ending: Ending | undefined, options: RunOptions): Verdict {
  const failed = (outcome: RunOutcome, reason: string): Verdict => ({
    outcome,
    exit: null,
    signal: null,
    reason,
  });
  if (!ended.launched) {
    return failed(ended.asked ? "launch_failed" : "sandbox_unconfirmed", ended.reason);
  }
  const report = readReport(ended.report);
  if (!report) return failed("sandbox_unconfirmed", "the helper's report is not one that it writes");
  if (report.refusal) return judgeRefusal(report.refusal, options.argv[0] ?? "");
  // Ended by us before it ran: nothing happened, and nothing is wrong with the sandbox.
  if (ending !== undefined) return { ...failed(...endingOutcome(ending, options)), ...withEnd(report.end) };
  if (!report.started) {
    return failed("sandbox_unconfirmed", "the helper did not report that the program ran confined");
  }
  if (!report.end) {
    return {
      ...failed("signal", "the sandbox's helper was killed, and the program with it"),
      signal: "SIGKILL",
    };
  }
  const { end } = report;
  if (end.timed_out) return { ...failed("timeout", timeoutReason(options)), end };
  if (end.signal > 0 || end.exit === undefined) {
    const reason = end.terminated ? "the sandbox's helper was told to end" : null;
    return { outcome: "signal", exit: null, signal: signalName(end.signal), reason, end };
  }
  return { outcome: end.exit === 0 ? "ok" : "exit", exit: end.exit, signal: null, reason: null, end };
}

function withEnd(end: HelperEnd | undefined): { end?: HelperEnd } {
  return end ? { end } : {};
}

function endingOutcome(ending: Ending, options: RunOptions): [RunOutcome, string] {
  switch (ending) {
    case "timeout":
      return ["timeout", timeoutReason(options)];
    case "output_limit": {
      const limit = options.limits?.stdoutBytes ?? DEFAULT_LIMITS.stdoutBytes;
      return ["output_limit", `stdout is over ${limit} bytes`];
    }
    case "cancelled":
      return ["signal", "it was ended by reyn"];
  }
}

function timeoutReason({ timeoutMs }: RunOptions): string {
  return `timed out after ${timeoutMs / 1000} s`;
}

/** Stages of the helper that concern what was to be run; all others mean that the sandbox could not be set up. */
function judgeRefusal(refusal: HelperRefusal, program: string): Verdict {
  const code = errnoName(refusal.errno);
  const at = refusal.path === undefined ? "" : ` ${refusal.path}`;
  const failed = (reason: string): Verdict => ({
    outcome: "launch_failed",
    exit: null,
    signal: null,
    reason,
  });
  switch (refusal.stage) {
    case "execve":
      return failed(`${program}: ${executeReason(code)}`);
    case "write_path":
      return failed(`write_paths:${at} cannot be granted (${code})`);
    case "write_path_denied":
      return failed(`write_paths:${at} lies where no hook may read or write`);
    case "write_path_read_only":
    case "write_path_device":
      return failed(`write_paths:${at} lies where no hook may write`);
    default:
      return {
        outcome: "sandbox_unconfirmed",
        exit: null,
        signal: null,
        reason: `the sandbox could not be set up: ${refusal.stage}${at} ${code}`,
      };
  }
}

function executeReason(code: string): string {
  switch (code) {
    case "ENOENT":
      return "it, or the interpreter of its first line, does not exist";
    case "EACCES":
      return "it is not executable, or lies where no hook may read (EACCES)";
    case "ENOEXEC":
      return "it is neither a program for this machine nor a script with a first line #! (ENOEXEC)";
    case "E2BIG":
      return "its arguments and environment are too long (E2BIG)";
    default:
      return `it cannot be started (${code})`;
  }
}

function errnoName(number: number): string {
  return Object.entries(constants.errno).find(([, value]) => value === number)?.[0] ?? `errno ${number}`;
}

function signalName(number: number): string {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? `SIG${number}`;
}

function returncodeOf({ outcome, exit, end }: Verdict): number {
  if (exit !== null) return exit;
  return outcome === "signal" && end && end.signal > 0 ? -end.signal : -1;
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

/** The program's process, taken down while it is surely still that one. */
function treeOf(report: string): TreeRoot | undefined {
  const pid = /"started":(\d+)}\n/.exec(report)?.[1];
  if (pid === undefined) return undefined;
  // Nobody has this variable: only the program's group, session and descendants are meant.
  const root = treeRoot(Number(pid), `REYN_NONE_${randomUUID()}`);
  return root.start === undefined ? undefined : root;
}
