import { join } from "node:path";
import type { ProcessStep, StepOf } from "../format.ts";
import { textMismatch } from "../match_text.ts";
import { poll } from "../poll.ts";
import { type Running, startProcess } from "../processes.ts";
import { contentBytes } from "../values.ts";
import { askTestClock } from "../test_clock.ts";
import { pathIn, type World } from "../world.ts";
import { outputOf, StepFailure } from "./failure.ts";

export const STEP_TIMEOUT_MS = 20_000;

/** What later steps need of a process that is started in the background. */
export interface Needs {
  /** Names whose input stays open, because a later step writes or closes it. */
  input: ReadonlySet<string>;
  /** Names that get a test clock, because a later step advances or sets it. */
  clock: ReadonlySet<string>;
}

export async function runProcessStep(world: World, step: ProcessStep, needs: Needs): Promise<void> {
  const argv = step.kind === "run" ? [world.binary, ...step.run] : step.exec;
  const name = step.background;
  const env: Record<string, string> = { ...world.env };
  for (const [key, value] of Object.entries(step.env ?? {})) {
    if (value === null) delete env[key];
    else env[key] = value;
  }
  if (step.tty) env["TERM"] ??= "xterm";
  if (step.kind === "run" && step.kill_at !== undefined) env["REYN_TEST_KILL_AT"] = step.kill_at;
  if (name !== undefined && needs.clock.has(name)) env["REYN_TEST_CLOCK"] = clockSocket(world, name);
  const given = step.stdin === undefined ? undefined : await contentBytes(step.stdin, world.caseFolder);
  const stdin = given ?? (name !== undefined && needs.input.has(name) ? "open" : undefined);
  const running = await startProcess({
    argv,
    cwd: step.cwd === undefined ? world.control : pathIn(world, step.cwd),
    env,
    tty: step.tty ?? false,
    ...(stdin === undefined ? {} : { stdin }),
  });
  if (name !== undefined) {
    world.background.set(name, running);
    return;
  }
  const timeout = step.timeout ?? STEP_TIMEOUT_MS;
  const exit = await running.waitExit(timeout);
  if (exit === undefined) {
    await running.signal("SIGKILL");
    throw new StepFailure(`did not end within ${timeout / 1000} s\n${outputOf(running)}`);
  }
  const killed = step.kind === "run" && step.kill_at !== undefined;
  const wanted = { exit: killed ? 137 : 0, ...step.expect };
  if (killed && wanted.exit === 137 && exit !== 137) {
    throw new StepFailure(`did not come to ${step.kill_at}: exit is ${exit}\n${outputOf(running)}`);
  }
  judgeExit(running, exit, wanted);
}

function judgeExit(
  running: Running,
  exit: number,
  wanted: StepOf<"wait_exit">["wait_exit"] | ProcessStep["expect"],
): void {
  const problems: string[] = [];
  const code = wanted?.exit ?? 0;
  if (code !== "any" && exit !== code) problems.push(`exit is ${exit}, not ${code}`);
  for (const stream of ["stdout", "stderr"] as const) {
    const matcher = wanted?.[stream];
    const problem = matcher && textMismatch(running[stream](), matcher, { looseEnd: true });
    if (problem) problems.push(`${stream} ${problem}`);
  }
  if (problems.length === 0) return;
  const context = code !== "any" && exit !== code ? `\n${outputOf(running)}` : "";
  throw new StepFailure(problems.join("\n") + context);
}

export function backgroundOf(world: World, name: string): Running {
  const running = world.background.get(name);
  if (!running) throw new StepFailure(`no process "${name}" was started`);
  return running;
}

export async function waitOutput(world: World, step: StepOf<"wait_output">["wait_output"]): Promise<void> {
  const running = backgroundOf(world, step.of);
  const problem = (): string | undefined => {
    for (const stream of ["stdout", "stderr"] as const) {
      const matcher = step[stream];
      const found = matcher && textMismatch(running[stream](), matcher, { looseEnd: true });
      if (found) return `${stream} ${found}`;
    }
    return undefined;
  };
  const timeout = step.timeout ?? STEP_TIMEOUT_MS;
  const held = await poll(timeout, () => {
    if (problem() === undefined) return true;
    return running.exit() === undefined ? undefined : true;
  });
  const last = problem();
  if (last === undefined) return;
  const when = held
    ? `"${step.of}" ended with exit ${running.exit()} first`
    : `not within ${timeout / 1000} s`;
  throw new StepFailure(`${when}: ${last}`);
}

export async function waitExit(world: World, step: StepOf<"wait_exit">["wait_exit"]): Promise<void> {
  const running = backgroundOf(world, step.of);
  const timeout = step.timeout ?? STEP_TIMEOUT_MS;
  const exit = await running.waitExit(timeout);
  if (exit === undefined) {
    throw new StepFailure(`"${step.of}" still runs after ${timeout / 1000} s\n${outputOf(running)}`);
  }
  judgeExit(running, exit, step);
}

export async function signalStep(world: World, to: string, name: string): Promise<void> {
  const running = backgroundOf(world, to);
  if (await running.signal(name)) return;
  throw new StepFailure(`"${to}" had ended already, with exit ${running.exit()}\n${outputOf(running)}`);
}

/** SIGKILL, and the end of the process itself. */
export async function killStep(world: World, name: string): Promise<void> {
  await signalStep(world, name, "SIGKILL");
  const exit = await backgroundOf(world, name).waitExit(STEP_TIMEOUT_MS);
  if (exit === undefined) throw new StepFailure(`"${name}" survived SIGKILL`);
}

export async function sendStep(world: World, step: StepOf<"send">["send"]): Promise<void> {
  const running = backgroundOf(world, step.to);
  if (running.exit() !== undefined) {
    throw new StepFailure(
      `"${step.to}" had ended already, with exit ${running.exit()}\n${outputOf(running)}`,
    );
  }
  running.send(await contentBytes(step.text, world.caseFolder));
}

export async function advanceStep(world: World, step: StepOf<"advance">["advance"]): Promise<void> {
  const timeout = step.timeout ?? STEP_TIMEOUT_MS;
  const answer = await askTestClock(clockSocket(world, step.of), `advance ${step.by}`, timeout)
    .catch((error: unknown) => error instanceof Error ? error.message : String(error));
  if (answer === "ok") return;
  throw new StepFailure(`advancing by ${step.by} ms: ${answer}\n${outputOf(backgroundOf(world, step.of))}`);
}

export async function setClockStep(world: World, step: StepOf<"set_clock">["set_clock"]): Promise<void> {
  const by = step.back === true ? -step.by : step.by;
  const answer = await askTestClock(clockSocket(world, step.of), `step ${by}`, STEP_TIMEOUT_MS)
    .catch((error: unknown) => error instanceof Error ? error.message : String(error));
  if (answer !== "ok") throw new StepFailure(`setting the clock by ${by} ms: ${answer}`);
}

function clockSocket(world: World, name: string): string {
  return join(world.base, `clock-${name}.sock`);
}
