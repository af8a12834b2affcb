import { targetOf } from "./check_steps.ts";
import type { Case, Step } from "./format.ts";
import { processesOf } from "./leftovers.ts";
import type { CaseRow } from "./load.ts";
import { pause, poll } from "./poll.ts";
import type { Path } from "./shape.ts";
import { expectStep } from "./steps/expect_step.ts";
import { waitEvent } from "./steps/event_steps.ts";
import { StepFailure } from "./steps/failure.ts";
import { runFileStep } from "./steps/file_steps.ts";
import { httpStep } from "./steps/http_step.ts";
import {
  advanceStep,
  backgroundOf,
  killStep,
  type Needs,
  runProcessStep,
  sendStep,
  setClockStep,
  signalStep,
  waitExit,
  waitOutput,
} from "./steps/process_steps.ts";
import { freePort, makeWorld, placeFile, removeWorld, type World } from "./world.ts";

export interface Failure {
  /** The step in the words of the case, or what was expected. */
  step: string;
  /** 1-based line in the case file. */
  line: number;
  message: string;
}

export interface CaseResult {
  name: string;
  file: string;
  shows: string;
  seconds: number;
  failures: Failure[];
  /** The folder of the failed run, when it was kept. */
  kept?: string;
}

export interface RunOptions {
  binary: string;
  testBinary: string;
  /** Keeps the folder of a failed run. */
  keep?: boolean;
}

const CASE_TIMEOUT_MS = 60_000;
/** What a background process gets to end by itself at the end of a case. */
const END_MS = 5000;

/** Runs a case, as often as it says, until it fails. */
export async function runCase(row: CaseRow, options: RunOptions): Promise<CaseResult> {
  const started = performance.now();
  const times = row.case.repeat ?? 1;
  let failures: Failure[] = [];
  let kept: string | undefined;
  for (let round = 1; round <= times && failures.length === 0; round++) {
    const run = await runOnce(row, options);
    kept = run.kept;
    failures = times === 1 ? run.failures : run.failures.map((failure) => ({
      ...failure,
      message: `(run ${round} of ${times}) ${failure.message}`,
    }));
  }
  const seconds = (performance.now() - started) / 1000;
  const { name, file } = row;
  return { name, file, shows: row.case.shows, seconds, failures, ...(kept === undefined ? {} : { kept }) };
}

async function runOnce(row: CaseRow, options: RunOptions): Promise<{ failures: Failure[]; kept?: string }> {
  const isTest = row.case.binary === "test";
  const binary = isTest ? options.testBinary : options.binary;
  const world = await makeWorld({
    caseFolder: row.folder,
    binary,
    testClock: needsOf(row.case).clock.size > 0,
  });
  const failures: Failure[] = [];
  const add = (step: string, path: Path, error: unknown) => {
    const message = error instanceof StepFailure ? error.message : errorText(error);
    failures.push({ step, line: row.lineOf(path), message });
  };
  try {
    const given = row.fill({
      CONTROL: world.control,
      HOME: world.home,
      TEMP: world.env["TMPDIR"] ?? "",
      CASE: row.folder,
      REYN: binary,
      PORT: String(await freePort()),
    });
    const timeout = given.timeout ?? CASE_TIMEOUT_MS;
    let current = "the case";
    const onStep = (title: string) => current = title;
    if (await isTooLong(timeout, (over) => playCase(world, given, { over, add, onStep }))) {
      add(current, [], new StepFailure(`the case is not through after ${timeout / 1000} s`));
    }
    if (failures.length === 0) await endBackground(world, (error) => add("the end of the case", [], error));
  } catch (error) {
    add("the case", [], error);
  } finally {
    await removeWorld(world, failures.length > 0 && (options.keep ?? false));
  }
  return failures.length > 0 && options.keep ? { failures, kept: world.base } : { failures };
}

interface Play {
  /** Whether the time of the case is over; nothing is started or reported then. */
  over(): boolean;
  add(step: string, path: Path, error: unknown): void;
  onStep(title: string): void;
}

async function playCase(world: World, given: Case, { over, add, onStep }: Play): Promise<void> {
  for (const [path, spec] of Object.entries(given.files ?? {})) await placeFile(world, path, spec);
  for (const [name, value] of Object.entries(given.env ?? {})) {
    if (value === null) delete world.env[name];
    else world.env[name] = value;
  }
  const needs = needsOf(given);
  for (const [index, step] of given.steps.entries()) {
    if (over()) return;
    onStep(titleOf(step, index));
    try {
      await runStep(world, step, needs);
    } catch (error) {
      if (!over()) add(titleOf(step, index), ["steps", index], error);
      return;
    }
  }
  if (!given.expect || over()) return;
  onStep("expect");
  try {
    await expectStep(world, given.expect);
  } catch (error) {
    if (!over()) add("expect", ["expect"], error);
  }
}

async function runStep(world: World, step: Step, needs: Needs): Promise<void> {
  switch (step.kind) {
    case "run":
    case "exec":
      return await runProcessStep(world, step, needs);
    case "send":
      return await sendStep(world, step.send);
    case "close_stdin":
      return backgroundOf(world, step.close_stdin).closeStdin();
    case "write":
    case "append":
    case "touch":
    case "remove":
    case "rename":
    case "chmod":
      return await runFileStep(world, step);
    case "wait_event":
      return await waitEvent(world, step.wait_event);
    case "wait_output":
      return await waitOutput(world, step.wait_output);
    case "wait_exit":
      return await waitExit(world, step.wait_exit);
    case "signal":
      return await signalStep(world, step.signal.to, step.signal.name);
    case "kill":
      return await killStep(world, step.kill);
    case "advance":
      return await advanceStep(world, step.advance);
    case "set_clock":
      return await setClockStep(world, step.set_clock);
    case "sleep":
      return await pause(step.sleep);
    case "http":
      return await httpStep(world, step);
    case "expect":
      return await expectStep(world, step.expect);
  }
}

function needsOf(given: Case): Needs {
  const targets = (kinds: readonly Step["kind"][]) =>
    new Set(given.steps.filter((step) => kinds.includes(step.kind)).flatMap((step) => targetOf(step) ?? []));
  return { input: targets(["send", "close_stdin"]), clock: targets(["advance", "set_clock"]) };
}

/** Ends what still runs in the background, and reports what outlives its end. */
async function endBackground(world: World, report: (error: StepFailure) => void): Promise<void> {
  for (const [name, running] of world.background) {
    if (running.exit() !== undefined) continue;
    running.closeStdin();
    await running.signal("SIGTERM");
    if ((await running.waitExit(END_MS)) === undefined) {
      report(new StepFailure(`"${name}" did not end within ${END_MS / 1000} s of SIGTERM`));
      await running.signal("SIGKILL");
      await running.waitExit(END_MS);
    }
  }
  let left = await processesOf(world.base);
  await poll(1000, async () => {
    left = await processesOf(world.base);
    return left.length === 0 || undefined;
  });
  if (left.length === 0) return;
  const lines = left.map(({ pid, command }) => `    ${pid} ${command}`);
  report(new StepFailure(`processes were left alive, and killed:\n${lines.join("\n")}`));
}

/** Whether a run is not through in time; it then ends by itself, because its processes are killed. */
async function isTooLong(timeoutMs: number, run: (over: () => boolean) => Promise<void>): Promise<boolean> {
  let isOver = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<"over">((done) => {
    timer = setTimeout(() => {
      isOver = true;
      done("over");
    }, timeoutMs);
  });
  const result = await Promise.race([run(() => isOver), over]);
  clearTimeout(timer);
  return result === "over";
}

function titleOf(step: Step, index: number): string {
  const { kind, ...rest } = step;
  const subject: unknown = Object.entries(rest).find(([key]) => key === kind)?.[1];
  const shown = Array.isArray(subject)
    ? subject.join(" ")
    : typeof subject === "string"
    ? subject
    : JSON.stringify(subject);
  const short = (shown ?? "").replaceAll("\n", " ");
  return `steps[${index}] ${kind} ${short.length > 90 ? `${short.slice(0, 90)}…` : short}`;
}

function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
