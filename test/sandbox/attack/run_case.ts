import { spawn } from "node:child_process";
import { systemClock } from "../../../src/clock/clock.ts";
import { FIXED_PATH } from "../../../src/sandbox/environment.ts";
import { FLOOR, type SandboxPolicy } from "../../../src/sandbox/policy.ts";
import type { SandboxRun } from "../../../src/sandbox/result.ts";
import type { Sandbox } from "../../../src/sandbox/sandbox.ts";
import type { AttackCase, Outcome } from "./attack_case.ts";
import { digest, makeWorld, removeWorld, SECRET, type Surroundings, type World } from "./world.ts";

export type CaseResult =
  /** `unseen`: what the case asks about that could not be seen this way. */
  | { status: "passed"; unseen: readonly string[] }
  | { status: "failed"; reason: string }
  | { status: "not_run"; reason: string };

/** One way to run a command of a case. */
export interface Runner {
  /** Files that it writes for itself. */
  own?: (world: World) => string[];
  run(attack: AttackCase, argv: string[], world: World): Promise<Seen>;
}

/** What was seen of a run. */
export interface Seen {
  run: SandboxRun;
  answer: Outcome["answer"];
  says?: (text: string) => boolean;
  /** Filled while the case is judged. */
  unseen?: ReadonlySet<string>;
}

export const TIMEOUT_MS = 20_000;

/** Runs a case in a world of its own. Without a sandbox it is the control: most must then fail. */
export async function runCase(
  attack: AttackCase,
  shared: Surroundings,
  runner: Runner,
): Promise<CaseResult> {
  if (attack.needsMounts && !shared.mounts) {
    return { status: "not_run", reason: "bind mounts cannot be made" };
  }
  const world = makeWorld(shared);
  const undo: (() => Promise<void>)[] = [];
  try {
    const argv = argvOf(attack, world);
    if (argv === undefined) return { status: "not_run", reason: "its program is not installed" };
    if (attack.needsMounts) undo.push(await mountAliases(world));
    const grants = attack.grants?.(world) ?? {};
    const mayChange = (grants.writePaths ?? []).length > 0;
    const except = mayChange
      ? [world.out, `${world.home}/projects`, `${world.control}/src`, `${world.control}/data.txt`]
      : [];
    except.push(...runner.own?.(world) ?? []);
    const before = digest(world, except);
    const { run, answer, says, unseen } = await runner.run(attack, argv, world);
    const outcome: Outcome = { run, world, answer, ...(says ? { says } : {}) };
    if ((run.stdoutText + run.stderrTail).includes(SECRET)) throw new Error("it printed the secret");
    attack.expect(outcome);
    if (!attack.meanwhile && digest(world, except) !== before) {
      throw new Error("something outside was changed");
    }
    return { status: "passed", unseen: [...unseen ?? []] };
  } catch (error) {
    return { status: "failed", reason: error instanceof Error ? error.message : String(error) };
  } finally {
    for (const step of undo) await step();
    removeWorld(world);
  }
}

function argvOf(attack: AttackCase, world: World): string[] | undefined {
  if (attack.program) {
    const [name, ...args] = attack.program(world);
    const file = world.programs[name];
    return file === undefined ? undefined : [file, ...args];
  }
  return [world.attacker, ...(attack.attack?.(world) ?? []).map(String)];
}

/** As the library is used: by the sandbox itself. */
export function confinedRunner(sandbox: Sandbox): Runner {
  return {
    async run(attack, argv, world) {
      const run = await confined(attack, argv, world, sandbox);
      return { run, answer: answerOf(run.stdoutText) };
    },
  };
}

/** Without a sandbox. */
export const bareRunner: Runner = {
  async run(attack, argv, world) {
    const run = await bare(attack, argv, world);
    return { run, answer: answerOf(run.stdoutText) };
  },
};

const environment = (world: World) => ({
  PATH: FIXED_PATH,
  HOME: world.home,
  LC_ALL: "C",
  DENO_DIR: world.out,
  NO_COLOR: "1",
});

async function confined(
  attack: AttackCase,
  argv: string[],
  world: World,
  sandbox: Sandbox,
): Promise<SandboxRun> {
  const policy: SandboxPolicy = {
    controlDir: world.control,
    homes: [world.home],
    grants: { ...FLOOR, ...attack.grants?.(world) },
    denyRead: attack.denyRead?.(world) ?? [],
    readOnly: ["hook.sh"],
  };
  const stop = watchReady(attack, world);
  const run = sandbox.run({
    argv,
    cwd: world.control,
    env: environment(world),
    stdin: attack.stdin ?? "",
    policy,
    timeoutMs: attack.timeoutMs ?? TIMEOUT_MS,
    stdout: "capture",
    clock: systemClock,
    ...(attack.abi === undefined ? {} : { assumeLandlockAbi: attack.abi }),
  });
  return await run.finally(stop);
}

/** The attacker has surely started by then; what it waits for comes into being later still. */
function watchReady(attack: AttackCase, world: World): () => void {
  if (!attack.meanwhile) return () => {};
  const timer = setTimeout(() => attack.meanwhile?.(world), 300);
  return () => clearTimeout(timer);
}

function bare(attack: AttackCase, argv: string[], world: World): Promise<SandboxRun> {
  const stop = watchReady(attack, world);
  const [file = "", ...args] = argv;
  return new Promise((resolve) => {
    let stdoutText = "";
    let stderrTail = "";
    const child = spawn(file, args, { cwd: world.control, env: environment(world), stdio: "pipe" });
    const timer = setTimeout(() => child.kill("SIGKILL"), 5000);
    const finish = (code: number, signal: string | null) => {
      clearTimeout(timer);
      stop();
      resolve({
        outcome: signal !== null ? "signal" : code === 0 ? "ok" : "exit",
        returncode: code,
        signal,
        stdout: new Uint8Array(),
        stdoutText,
        stderrTail,
        reason: null,
        denial: null,
        denied: null,
        leftKilled: 0,
        durationMs: 0,
      });
    };
    child.on("error", () => finish(127, null));
    child.stdin?.on("error", () => {});
    child.stdin?.end(attack.stdin ?? "");
    child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdoutText += text));
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderrTail += text));
    child.on("close", (code, signal) => finish(code ?? -1, signal));
  });
}

function answerOf(stdout: string): Outcome["answer"] {
  for (const line of stdout.split("\n")) {
    if (!line.startsWith('{"result"')) continue;
    const value: unknown = JSON.parse(line);
    if (typeof value !== "object" || value === null) return undefined;
    const { result, errno, text } = value as Record<string, unknown>;
    if (typeof result === "number" && typeof errno === "number" && typeof text === "string") {
      return { result, errno, text };
    }
  }
  return undefined;
}

async function mountAliases(world: World): Promise<() => Promise<void>> {
  await command("mount", ["--bind", world.home, world.alias]);
  await command("mount", ["--bind", `${world.home}/.ssh`, world.secretAlias]);
  return async () => {
    await command("umount", [world.secretAlias]);
    await command("umount", [world.alias]);
  };
}

export function command(file: string, args: string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(file, args, { stdio: "ignore" });
    child.on("error", () => resolve(false));
    child.on("exit", (code) => resolve(code === 0));
  });
}
