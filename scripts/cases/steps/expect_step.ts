import { lstat, readFile } from "node:fs/promises";
import type { Expectation } from "../format.ts";
import { processesOf } from "../leftovers.ts";
import { jsonMismatches } from "../match_json.ts";
import { textMismatch } from "../match_text.ts";
import { poll } from "../poll.ts";
import { startProcess } from "../processes.ts";
import { pathIn, type World } from "../world.ts";
import { eventProblems } from "./event_steps.ts";
import { outputOf, StepFailure } from "./failure.ts";
import { STEP_TIMEOUT_MS } from "./process_steps.ts";

/** How long ended processes may take to disappear. */
const SETTLE_MS = 2000;

/** All that is expected has to hold, at once or `within` the given time. */
export async function expectStep(world: World, wanted: Expectation): Promise<void> {
  let problems: string[] = [];
  await poll(wanted.within ?? 0, async () => {
    problems = await problemsOf(world, wanted);
    return problems.length === 0 || undefined;
  });
  if (problems.length > 0) throw new StepFailure(problems.join("\n"));
}

async function problemsOf(world: World, wanted: Expectation): Promise<string[]> {
  const problems: string[] = [];
  if (wanted.events) problems.push(...await eventProblems(world, wanted.events));
  for (const { id, pattern } of wanted.session ?? []) {
    problems.push(...await sessionProblems(world, id, pattern));
  }
  for (const [path, rules] of Object.entries(wanted.files ?? {})) {
    problems.push(...(await fileProblems(world, path, rules)).map((problem) => `file ${path} ${problem}`));
  }
  if (wanted.processes_left !== undefined) problems.push(...await leftProblems(world, wanted.processes_left));
  return problems;
}

/** Asks the binary itself, as an operator would. */
async function sessionProblems(world: World, id: string, pattern: unknown): Promise<string[]> {
  const argv = [world.binary, "sessions", "show", id, "--json"];
  const running = await startProcess({ argv, cwd: world.control, env: world.env, tty: false });
  const exit = await running.waitExit(STEP_TIMEOUT_MS);
  if (exit !== 0) {
    await running.signal("SIGKILL");
    return [
      `sessions show ${id} --json: ${exit === undefined ? "no end" : `exit ${exit}`}\n${outputOf(running)}`,
    ];
  }
  try {
    const value: unknown = JSON.parse(running.stdout());
    return jsonMismatches(value, pattern).map((problem) => `session ${id}: ${problem}`);
  } catch {
    return [`sessions show ${id} --json is not JSON\n${outputOf(running)}`];
  }
}

type FileRules = NonNullable<Expectation["files"]>[string];

async function fileProblems(world: World, path: string, rules: FileRules): Promise<string[]> {
  const target = pathIn(world, path);
  const found = await lstat(target).catch(() => undefined);
  if (!found) return rules.exists === false ? [] : ["does not exist"];
  if (rules.exists === false) return ["exists"];
  const problems: string[] = [];
  const type = found.isSymbolicLink()
    ? "symlink"
    : found.isDirectory()
    ? "folder"
    : found.isFile()
    ? "file"
    : "special";
  if (rules.type !== undefined && type !== rules.type) problems.push(`is a ${type}, not a ${rules.type}`);
  const mode = found.mode & 0o7777;
  if (rules.mode !== undefined && mode !== rules.mode) {
    problems.push(`has mode ${octal(mode)}, not ${octal(rules.mode)}`);
  }
  if (rules.size !== undefined) problems.push(...jsonMismatches(found.size, rules.size, "size"));
  if (rules.content) {
    const text = await readFile(target, "utf8").catch((error: unknown) => String(error));
    const problem = textMismatch(text, rules.content);
    if (problem !== undefined) problems.push(problem);
  }
  return problems;
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, "0");
}

/** Processes that something of the case started; those the case itself still has in the background do not count. */
async function leftProblems(world: World, wanted: number): Promise<string[]> {
  const own = () =>
    [...world.background.values()].filter((running) => running.exit() === undefined).flatMap((running) =>
      running.pids()
    );
  const left = async () => {
    const pids = new Set(own());
    return (await processesOf(world.base)).filter(({ pid }) => !pids.has(pid));
  };
  let last = await left();
  await poll(SETTLE_MS, async () => {
    last = await left();
    return last.length === wanted || undefined;
  });
  if (last.length === wanted) return [];
  const lines = last.map(({ pid, command }) => `    ${pid} ${command}`);
  return [`${last.length} processes are left, not ${wanted}\n${lines.join("\n")}`];
}
