import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import path from "node:path";
import { FIXED_PATH } from "../../../src/sandbox/environment.ts";
import type { DeniedCounts, SandboxRun } from "../../../src/sandbox/result.ts";
import type { AttackCase, Outcome } from "./attack_case.ts";
import { type Runner, type Seen, TIMEOUT_MS } from "./run_case.ts";
import { SECRET, type World } from "./world.ts";

/** What one `reyn run` left to be read. */
export interface ReynRun {
  /** Exit code, 128+n after signal n. */
  code: number;
  stderr: string;
  /** Lines of `--json` and of the audit log, in their order. */
  told: Record<string, unknown>[];
  audit: { type: string; data: Record<string, unknown> }[];
}

export interface ReynOptions {
  reyn: string;
  controlDir: string;
  home: string;
  env?: Record<string, string>;
  /** Given on stdin. */
  message?: string;
  onStart?: (child: ChildProcess) => void;
  /** More descriptors of it, from 3 on. */
  descriptors?: number[];
  timeoutMs?: number;
}

/** Runs one session of one message, with all hooks approved. */
export function runReyn(options: ReynOptions): Promise<ReynRun> {
  const { reyn, controlDir, home, env = {}, message = "hi" } = options;
  return new Promise((resolve) => {
    const child = spawn(reyn, ["run", "--quiet", "--json", "-"], {
      cwd: controlDir,
      env: { PATH: FIXED_PATH, HOME: home, REYN_ACCEPT_HOOKS: "1", LC_ALL: "C", ...env },
      stdio: ["pipe", "pipe", "pipe", ...(options.descriptors ?? [])],
    });
    child.stdin?.on("error", () => {});
    child.stdin?.end(message);
    options.onStart?.(child);
    const timer = setTimeout(() => child.kill("SIGKILL"), options.timeoutMs ?? 3 * TIMEOUT_MS);
    let stdout = "";
    let stderr = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    child.on("error", (error) => (stderr += error.message));
    child.on("close", (exitCode, signal) => {
      clearTimeout(timer);
      const code = exitCode ?? 128 + (signal === null ? 0 : constants.signals[signal]);
      resolve({ code, stderr, told: jsonLines(stdout), audit: auditOf(controlDir) });
    });
  });
}

/** Texts of what hooks pushed. */
export function pushesOf({ told }: Pick<ReynRun, "told">): string[] {
  return told.filter(({ type }) => type === "push").map(({ text }) => textOf(text));
}

export function auditOf(controlDir: string): ReynRun["audit"] {
  const folder = path.join(controlDir, ".reyn/events");
  let names: string[] = [];
  try {
    names = readdirSync(folder).sort();
  } catch {
    // Refused before there was anything to log.
  }
  return names.flatMap((name) => jsonLines(readFileSync(path.join(folder, name), "utf8"))).map((line) => ({
    type: String(line["type"]),
    data: recordOf(line["data"]),
  }));
}

/** Runs a case as the hook of a session: what it was is read from what reyn says of it. */
export function throughReyn(reyn: string): Runner {
  return {
    own: (world) => [
      ...["reyn.yaml", ".reyn/state", ".reyn/events", ".reyn/agents/default/state"].map((name) =>
        path.join(world.control, name)
      ),
      ...[world.home, world.alias].map((home) => path.join(home, ".reyn")),
    ],
    async run(attack, argv, world) {
      // The store and the session of this control folder are real ones.
      rmSync(path.join(world.control, ".reyn/state"), { recursive: true });
      writeFileSync(path.join(world.control, ".reyn/agents/default/state/hooks.yaml"), "hooks: []\n");
      writeFileSync(path.join(world.control, "reyn.yaml"), settings(attack, argv, world));
      const stop = watchStart(attack, argv, world);
      const run = await runReyn({
        reyn,
        controlDir: world.control,
        home: world.home,
        env: { DENO_DIR: world.out, NO_COLOR: "1" },
      }).finally(stop);
      if (JSON.stringify(run).includes(SECRET)) throw new Error("reyn told the secret");
      return seen(run);
    },
  };
}

/** JSON is YAML. */
function settings(attack: AttackCase, argv: string[], world: World): string {
  const { subprocess, network, writePaths } = attack.grants?.(world) ?? {};
  const hook = {
    on: "session_start",
    name: "attack",
    exec_capture: argv,
    timeout: `${attack.timeoutMs ?? TIMEOUT_MS}ms`,
    env: ["DENO_DIR", "NO_COLOR"],
    ...(subprocess === undefined ? {} : { subprocess }),
    ...(network === undefined ? {} : { network }),
    ...(writePaths === undefined ? {} : { write_paths: writePaths }),
  };
  const sandbox = { deny_read: attack.denyRead?.(world) ?? [] };
  return JSON.stringify({ model: { provider: "echo" }, sandbox, hooks: [hook] });
}

function seen(run: ReynRun): Seen {
  const executed = run.audit.find(({ type }) => type === "hook_shell_executed")?.data;
  if (!executed) {
    if (
      run.audit.some(({ type, data }) => type === "hook_exec_refused" && data["reason"] === "consent_refused")
    ) {
      // It names a file that consent cannot be bound to, so that it never ran.
      const answer = { result: -1, errno: constants.errno.EACCES, text: "" };
      return {
        run: asRun({ outcome: "launch_failed" }),
        answer,
        unseen: new Set(["errno: consent was refused"]),
      };
    }
    const refusedAtLoad = run.code === 1 && run.stderr.includes("E_GRANT_DENIED");
    if (!refusedAtLoad) throw new Error(`no command was run: exit ${run.code} ${run.stderr}`);
    return { run: asRun({ outcome: "launch_failed", reason: run.stderr }), answer: undefined };
  }
  const error = textOf(run.told.find(({ type }) => type === "hook_failed")?.["error"]);
  const [push = ""] = pushesOf(run);
  const outcome = String(executed["outcome"]);
  const code = Number(executed["returncode"]);
  const answer = answerIn(push === "" ? error : push);
  const unseen = new Set<string>();
  return {
    answer,
    unseen,
    // What a program prints is no directive: that it printed something is all that is told.
    says(text) {
      if (answer) return answer.text.includes(text);
      unseen.add("stdout");
      return outcome === "bad_directive";
    },
    run: asRun({
      outcome: outcome === "bad_directive" ? "ok" : outcome as SandboxRun["outcome"],
      returncode: code,
      signal: code < -1 ? signalName(-code) : null,
      stderrTail: error,
      reason: error,
      denied: countsOf(String(executed["denial_class"]), executed["attribution"] === "counted", unseen),
    }),
  };
}

/** The audit tells the class of what stopped a command that failed; kinds without a class are not to be seen. */
function countsOf(denialClass: string, counted: boolean, unseen: Set<string>): DeniedCounts {
  const when = (name: string) => (counted && denialClass === name ? 1 : 0);
  const hidden = (kind: string): number => {
    unseen.add(`count of ${kind}`);
    return Infinity;
  };
  const counts: DeniedCounts = {
    fork: when("fork_denied"),
    forkBudget: 0,
    inet: when("network_denied"),
    unix: 0,
    socket: when("network_denied"),
    metadata: when("write_denied"),
    listing: 0,
    other: 0,
  };
  for (const kind of ["forkBudget", "unix", "listing", "other"] as const) {
    // Not enumerable: to print them in a message is not to ask for them.
    Object.defineProperty(counts, kind, { enumerable: false, get: () => hidden(kind) });
  }
  return counts;
}

function asRun(fields: Partial<SandboxRun>): SandboxRun {
  return {
    outcome: "ok",
    returncode: -1,
    signal: null,
    stdout: new Uint8Array(),
    stdoutText: "",
    stderrTail: "",
    reason: null,
    denial: null,
    denied: null,
    leftKilled: 0,
    durationMs: 0,
    ...fields,
  };
}

function answerIn(text: string): Outcome["answer"] {
  const [, result, errno, said = ""] = /result (-?\d+) errno (\d+) text ?([^\n]*)/.exec(text) ?? [];
  return result === undefined ? undefined : { result: Number(result), errno: Number(errno), text: said };
}

function signalName(number: number): string {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? String(number);
}

/** Changes the world once the command itself, and not yet its helper, has been running for a while. */
function watchStart(attack: AttackCase, argv: string[], world: World): () => void {
  const { meanwhile } = attack;
  if (!meanwhile) return () => {};
  const started = () =>
    readdirSync("/proc").some((pid) => /^\d/.test(pid) && commandLine(pid) === argv.join("\0"));
  const timer = setInterval(() => {
    if (!started()) return;
    clearInterval(timer);
    setTimeout(() => meanwhile(world), 100);
  }, 50);
  return () => clearInterval(timer);
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").slice(0, -1);
  } catch {
    return "";
  }
}

function jsonLines(text: string): Record<string, unknown>[] {
  return text.split("\n").filter((line) => line !== "").map((line) => recordOf(JSON.parse(line)));
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? value as Record<string, unknown> : {};
}
