import { childEnv, type Environment } from "../adapter/child_env.ts";
import { findExecutable } from "../adapter/executable.ts";
import { type ProcessTree, spawnTree, type TreeEnd } from "../adapter/process_tree.ts";
import type { Clock } from "../clock/clock.ts";
import { showDuration } from "../config/scalars.ts";
import type { ErrorCode } from "../errors/catalogue.ts";
import { quote } from "../errors/quote.ts";
import { ReynError } from "../errors/reyn_error.ts";
import { requestLine } from "./command_request.ts";
import { forProvider, type HookRole } from "./conversation.ts";
import type { Model, ModelDelta, ModelRequest } from "./model.ts";
import { outputTail } from "./output_tail.ts";
import { replyText } from "./reply_text.ts";

export interface CommandOptions {
  command: readonly string[];
  /** Absolute path; where the command runs. */
  controlDir: string;
  /** The runtime's own environment; what injects code is left out. */
  env: Environment;
  clock: Clock;
  /** For one step, on the clock; 0 for no bound. */
  timeoutMs: number;
  hookRole: HookRole;
  /** Between SIGTERM and SIGKILL. Default 2000. */
  graceMs?: number;
  /** Asked before each step; what it answers is why the command may not run. */
  recheck?(argv: readonly string[]): Promise<string | undefined>;
  /** Makes the agent's workspace, which the command finds in REYN_WORKSPACE; what it throws fails the step. */
  workspace?(): Promise<string>;
}

/** Longest reply, in bytes. */
export const OUTPUT_LIMIT = 4 * 1024 * 1024;
const STDERR_SHOWN = 500;

/**
 * Runs a command once for each step: the request is one JSON line on its stdin, its stdout is the reply. However a
 * step ends, by itself, by an error, by an abort or because nobody reads on, no process of it is left.
 */
export function commandModel(options: CommandOptions): Model {
  const running = new Set<StepRun>();
  let closed = false;
  return {
    provider: "command",
    async *step(request, signal) {
      signal.throwIfAborted();
      const refused = await options.recheck?.(options.command);
      signal.throwIfAborted();
      if (refused !== undefined) throw untrusted(options.command, refused);
      const workspace = await options.workspace?.();
      signal.throwIfAborted();
      if (closed) throw new ReynError("E_MODEL_FAILED", "the model was closed");
      const env = { ...options.env, ...workspace === undefined ? {} : { REYN_WORKSPACE: workspace } };
      const run = startStep({ ...options, env }, request, signal);
      running.add(run);
      try {
        yield* run.deltas();
      } finally {
        await run.stop();
        running.delete(run);
      }
    },
    async close({ now = false } = {}) {
      closed = true;
      await Promise.all([...running].map((run) => run.close(now)));
    },
  };
}

function untrusted(command: readonly string[], what: string): ReynError {
  const message = `the model command ${quote(command[0] ?? "")} is not what you trusted: ${what}`;
  return new ReynError("E_PROJECT_UNTRUSTED", message, {
    fix: "`reyn trust` shows what it is now and records it",
  });
}

interface StepRun {
  deltas(): AsyncIterable<ModelDelta>;
  /** Ends the whole tree. */
  stop(): Promise<void>;
  /** Makes the step fail as closed, and ends the whole tree; with `now` without its grace. */
  close(now: boolean): Promise<void>;
}

function startStep(options: CommandOptions, request: ModelRequest, signal: AbortSignal): StepRun {
  const { command, clock, timeoutMs } = options;
  const title = `the model command ${quote(command[0] ?? "")}`;
  const reply = replyText(OUTPUT_LIMIT);
  const stderr = outputTail(STDERR_SHOWN);
  let ready = "";
  let end: TreeEnd | undefined;
  let wake = () => {};
  /** Why the step was stopped from this side; the first reason stands. */
  let stopped: { error: () => unknown } | undefined;

  const failed = (code: ErrorCode, what: string) => {
    const left = end && "left" in end && end.left > 0
      ? `; processes of it that could not be ended: ${end.left}`
      : "";
    const said = stderr.text();
    return new ReynError(
      code,
      `${title} ${what}${left}${said === "" ? "" : `; its stderr ended with ${quote(said, STDERR_SHOWN)}`}`,
    );
  };
  const stopWith = (error: () => unknown) => {
    if (stopped || end) return;
    stopped = { error };
    void tree.kill();
  };
  const take = (part: ReturnType<typeof reply.end>) => {
    if (part.ok) ready += part.text;
    else stopWith(() => failed("E_MODEL_OUTPUT", `did not answer: ${part.problem}`));
    wake();
  };

  const tree: ProcessTree = launch(
    options,
    requestLine({
      ...request,
      messages: forProvider(request.messages, options.hookRole),
    }),
    {
      onStdout: (chunk) => {
        if (!stopped) take(reply.add(chunk));
      },
      onStderr: (chunk) => stderr.add(chunk),
    },
  );
  const cancelTimeout = timeoutMs > 0
    ? clock.after(
      timeoutMs,
      () => stopWith(() => failed("E_MODEL_TIMEOUT", `did not answer within ${showDuration(timeoutMs)}`)),
    )
    : () => {};
  const onAbort = () => stopWith(() => signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  void tree.ended.then((result) => {
    end = result;
    cancelTimeout();
    signal.removeEventListener("abort", onAbort);
    wake();
  });

  const failure = (result: TreeEnd): ReynError | undefined => {
    switch (result.status) {
      case "launch_failed":
        return failed("E_MODEL_FAILED", `could not be started: ${result.reason}`);
      case "signaled":
        return failed("E_MODEL_FAILED", `was ended by ${result.signal}`);
      case "stuck":
        return failed("E_MODEL_FAILED", "does not end");
      case "exited":
        return result.code === 0 ? undefined : failed("E_MODEL_FAILED", `exited with ${result.code}`);
    }
  };

  return {
    async *deltas() {
      for (;;) {
        if (!stopped) signal.throwIfAborted();
        if (ready !== "" && !stopped) {
          const text = ready;
          ready = "";
          yield { type: "text", text };
        } else if (end) {
          break;
        } else {
          await new Promise<void>((resolve) => (wake = resolve));
        }
      }
      if (stopped) throw stopped.error();
      const error = failure(end);
      if (error) throw error;
      const last = reply.end();
      if (!last.ok) throw failed("E_MODEL_OUTPUT", `did not answer: ${last.problem}`);
      if (last.text !== "") yield { type: "text", text: last.text };
    },
    async stop() {
      stopWith(() => undefined);
      await tree.kill();
    },
    async close(now) {
      stopWith(() => failed("E_MODEL_FAILED", "was ended because the model was closed"));
      await tree.kill({ now });
    },
  };
}

function launch(
  { command, controlDir, env, clock, graceMs }: CommandOptions,
  stdin: string,
  output: { onStdout(chunk: Uint8Array): void; onStderr(chunk: Uint8Array): void },
): ProcessTree {
  const [name = "", ...args] = command;
  const found = findExecutable(name, controlDir, env["PATH"]);
  if (!found.ok) return failedLaunch(found.reason);
  return spawnTree({
    argv: [found.file, ...args],
    cwd: controlDir,
    env: childEnv(env),
    stdin,
    clock,
    ...output,
    ...(graceMs === undefined ? {} : { graceMs }),
  });
}

function failedLaunch(reason: string): ProcessTree {
  const ended = Promise.resolve<TreeEnd>({ status: "launch_failed", reason });
  return { pid: undefined, ended, kill: () => ended };
}
