import { Buffer } from "node:buffer";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { spawnTree, type TreeEnd } from "../../adapter/process_tree.ts";
import { headBuffer, tailBuffer } from "../linux/output_buffer.ts";
import type { RunOptions } from "../linux/run.ts";
import { DEFAULT_LIMITS } from "../policy.ts";
import { mayBeDenied, type RunOutcome, type SandboxRun } from "../result.ts";
import { attributeDenial } from "./attribute.ts";
import { confine } from "./confine.ts";

/** The system's own program, which its integrity protection keeps as it is. */
export const SANDBOX_EXEC = "/usr/bin/sandbox-exec";

/** What sandbox-exec exits with when it could not do its work (sysexits.h). */
const NOT_UNDERSTOOD = 65;
const SYSTEM_ERROR = 71;

/** Why reyn ended a run. */
type Ending = "timeout" | "output_limit" | "cancelled";

interface Verdict {
  outcome: RunOutcome;
  returncode: number;
  signal: string | null;
  reason: string | null;
}

/**
 * Runs one program under a profile, in a group and session of its own, and comes back when it and its group are gone. Nothing runs
 * without the profile: sandbox-exec applies it to itself and then becomes the program. Never throws.
 */
export async function runSeatbelt(sandboxExec: string, options: RunOptions): Promise<SandboxRun> {
  const { argv, cwd, env, policy, clock, signal } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const started = clock.monotonic();
  const stdout = headBuffer(options.stdout === "capture" ? limits.stdoutBytes : 0);
  const stderr = tailBuffer(limits.stderrBytes);
  const result = (verdict: Verdict): SandboxRun => {
    const bytes = options.stdout === "capture" ? stdout.bytes() : Buffer.alloc(0);
    const stderrTail = stderr.text();
    return {
      ...verdict,
      stdout: bytes,
      stdoutText: new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes),
      stderrTail,
      denial: mayBeDenied(verdict.outcome) && ending !== "cancelled"
        ? attributeDenial({ policy, cwd, stderrTail, argv })
        : null,
      denied: null,
      leftKilled: 0,
      durationMs: clock.monotonic() - started,
    };
  };
  let ending: Ending | undefined;

  const confined = confine(policy);
  if (!confined.ok) return result(failed(confined.outcome, confined.reason));
  const tree = spawnTree({
    argv: [sandboxExec, "-p", confined.profile, ...argv],
    cwd,
    env,
    stdin: options.stdin ?? "",
    clock,
    graceMs: 0,
    onStdout: (chunk) => {
      if (options.stdout === "ignore") return;
      stdout.add(chunk);
      if (stdout.overflowed()) end("output_limit");
    },
    onStderr: (chunk) => stderr.add(chunk),
  });
  const end = (why: Ending) => {
    ending ??= why;
    void tree.kill({ now: true });
  };
  const cancel = () => end("cancelled");
  const stopTimer = options.timeoutMs > 0 ? clock.after(options.timeoutMs, () => end("timeout")) : () => {};
  signal?.addEventListener("abort", cancel, { once: true });
  if (signal?.aborted) cancel();

  const ended = await tree.ended;
  stopTimer();
  signal?.removeEventListener("abort", cancel);
  if (ended.status === "launch_failed") return result(notLaunched(sandboxExec, ended.reason, cwd));
  if (ending !== undefined) return result(endedBy(ending, options.timeoutMs, limits.stdoutBytes));
  return result(judge(ended, argv[0] ?? "", stderr.text()));
}

function failed(outcome: RunOutcome, reason: string): Verdict {
  return { outcome, returncode: -1, signal: null, reason };
}

function notLaunched(sandboxExec: string, reason: string, cwd: string): Verdict {
  if (!existsSync(cwd)) return failed("launch_failed", `there is no folder ${cwd}`);
  return failed(
    "sandbox_unconfirmed",
    existsSync(sandboxExec) ? `${sandboxExec}: ${reason}` : `there is no ${sandboxExec}`,
  );
}

function endedBy(ending: Ending, timeoutMs: number, stdoutBytes: number): Verdict {
  switch (ending) {
    case "timeout":
      return failed("timeout", `timed out after ${timeoutMs / 1000} s`);
    case "output_limit":
      return failed("output_limit", `stdout is over ${stdoutBytes} bytes`);
    case "cancelled":
      return failed("signal", "it was ended by reyn");
  }
}

function judge(
  ended: Exclude<TreeEnd, { status: "launch_failed" }>,
  program: string,
  stderr: string,
): Verdict {
  switch (ended.status) {
    case "stuck":
      return failed("signal", "it did not end although it was killed");
    case "signaled": {
      const number = Object.entries(constants.signals).find(([name]) => name === ended.signal)?.[1];
      return {
        outcome: "signal",
        returncode: number === undefined ? -1 : -number,
        signal: ended.signal,
        reason: null,
      };
    }
    case "exited": {
      const { code } = ended;
      const refusal = readRefusal(code, stderr, program);
      if (refusal) return refusal;
      return { outcome: code === 0 ? "ok" : "exit", returncode: code, signal: null, reason: null };
    }
  }
}

/**
 * What sandbox-exec itself said: then it is all that was said. A program that writes the same only makes its own failure look like
 * another one.
 */
function readRefusal(code: number, stderr: string, program: string): Verdict | undefined {
  if (code !== NOT_UNDERSTOOD && code !== SYSTEM_ERROR) return undefined;
  const said = /^sandbox-exec: ([^\n]+)\n?/.exec(stderr)?.[1];
  if (said === undefined) return undefined;
  const exec = /^execvp\(\) of '.*' failed: (.+)$/.exec(said)?.[1];
  if (exec !== undefined) return failed("launch_failed", `${program}: it cannot be started (${exec})`);
  if (said.startsWith("sandbox_apply")) {
    return failed(
      "sandbox_unconfirmed",
      `reyn is already in a sandbox, and macOS does not put one in another (${said})`,
    );
  }
  return failed("sandbox_unconfirmed", `this system does not take the profile: ${said}`);
}
