import type { Case, ProcessStep, Step } from "./format.ts";
import type { Context, Path } from "./shape.ts";
import { signalNumber } from "./signals.ts";

/** What a shape cannot see: names of background processes, and keys that only go with others. */
export function checkSteps(given: Case, context: Context): void {
  const started = new Set<string>();
  const needStarted = (name: string, path: Path) => {
    if (!started.has(name)) {
      const known = [...started].join(", ") || "none";
      context.report(path, `no process "${name}" was started in the background before (${known})`);
    }
  };
  given.steps.forEach((step, index) => {
    const path = ["steps", index];
    switch (step.kind) {
      case "run":
      case "exec":
        checkProcess(step, given, path, context);
        if (step.background !== undefined) {
          if (started.has(step.background)) {
            context.report(
              [...path, "background"],
              `"${step.background}" is started twice; give it another name`,
            );
          }
          started.add(step.background);
        }
        break;
      case "signal":
        if (signalNumber(step.signal.name) === undefined) {
          context.report(
            [...path, "signal", "name"],
            `no such signal: ${step.signal.name} (SIGTERM, SIGINT, …)`,
          );
        }
        break;
      case "advance":
      case "set_clock":
        if (given.binary !== "test") context.report(path, `${step.kind} needs \`binary: test\``);
        break;
      case "wait_output":
        if (!step.wait_output.stdout && !step.wait_output.stderr) {
          context.report([...path, "wait_output"], "stdout or stderr is expected");
        }
        break;
      case "http":
        checkUrl(step.http.url, [...path, "http", "url"], context);
        if (step.http.body !== undefined && step.http.json !== undefined) {
          context.report([...path, "http"], "body and json do not go together");
        }
        break;
      default:
    }
    const target = targetOf(step);
    if (target !== undefined) needStarted(target, path);
  });
}

/** The background process that a step is about. */
export function targetOf(step: Step): string | undefined {
  switch (step.kind) {
    case "send":
      return step.send.to;
    case "close_stdin":
      return step.close_stdin;
    case "wait_output":
      return step.wait_output.of;
    case "wait_exit":
      return step.wait_exit.of;
    case "signal":
      return step.signal.to;
    case "kill":
      return step.kill;
    case "advance":
      return step.advance.of;
    case "set_clock":
      return step.set_clock.of;
    default:
      return undefined;
  }
}

function checkProcess(step: ProcessStep, given: Case, path: Path, context: Context): void {
  if (step.background !== undefined && step.expect) {
    context.report(
      [...path, "expect"],
      "what runs in the background is judged by wait_exit or wait_output",
      "key",
    );
  }
  if (step.background !== undefined && step.timeout !== undefined) {
    context.report([...path, "timeout"], "what runs in the background ends with the case", "key");
  }
  if (step.kind === "run" && step.kill_at !== undefined) {
    if (given.binary !== "test") context.report([...path, "kill_at"], "kill_at needs `binary: test`", "key");
    if (!/^\w[\w.:-]*$/.test(step.kill_at)) {
      context.report([...path, "kill_at"], "a label, or label:n for the n-th time, is expected");
    }
  }
  if (step.tty && step.expect?.stderr) {
    context.report([...path, "expect", "stderr"], "in a terminal everything arrives as stdout", "key");
  }
}

function checkUrl(url: string, path: Path, context: Context): void {
  if (!URL.canParse(url) || !["127.0.0.1", "localhost", "[::1]"].includes(new URL(url).hostname)) {
    context.report(path, `${url} is not a URL on 127.0.0.1`);
  }
}
