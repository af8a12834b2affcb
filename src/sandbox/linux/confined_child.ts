import { type ChildProcess, spawn } from "node:child_process";
import path from "node:path";
import { Readable, type Writable } from "node:stream";
import { errorCode } from "../../adapter/executable.ts";
import { systemClock } from "../../clock/clock.ts";
import type { SandboxPolicy } from "../policy.ts";
import { helperArguments, REPORT_FD } from "./helper_arguments.ts";
import { readReport } from "./helper_report.ts";
import type { InstalledHelper } from "./install_helper.ts";
import type { Keeper } from "./keeper.ts";
import { tailBuffer } from "./output_buffer.ts";

export interface ChildOptions {
  /** `argv[0]` is absolute. */
  argv: readonly string[];
  env: Readonly<Record<string, string>>;
  policy: SandboxPolicy;
}

/** A confined program that stays and is talked to. */
export interface ConfinedChild {
  stdin: Writable;
  stdout: Readable;
  /** Settles when it, its helper and all that came from it are gone, with a line that says why. Never rejects. */
  ended: Promise<string>;
  /** Ends it at once. */
  kill(): void;
  /** Lets reyn end while it waits; it ends then, too. */
  unref(): void;
  ref(): void;
}

export type ChildStart = { ok: true; child: ConfinedChild } | { ok: false; reason: string };

const LARGEST_REPORT = 64 * 1024;
const STDERR_BYTES = 4 * 1024;
/** For the helper to end what it has started, once asked to. Real time. */
const HELPER_GRACE_MS = 2000;

/** Starts a program through the helper with pipes for its streams. Whether it runs is known from what it says. Never throws. */
export function startConfined(helper: InstalledHelper, keeper: Keeper, options: ChildOptions): ChildStart {
  let child: ChildProcess;
  try {
    child = spawn(
      helper.executable,
      helperArguments({
        argv: options.argv,
        policy: options.policy,
        variables: Object.keys(options.env),
        processes: 1,
        backstopMs: 0,
        keeper: keeper.arguments(),
        helperFolder: path.dirname(helper.file),
      }),
      { cwd: "/", env: { ...options.env }, stdio: ["pipe", "pipe", "pipe", "pipe"] },
    );
  } catch (error) {
    return { ok: false, reason: `the sandbox's helper does not start (${errorCode(error)})` };
  }
  const { stdin, stdout, stderr } = child;
  const report = child.stdio?.[REPORT_FD];
  let failure: string | undefined;
  if (child.pid === undefined || !stdin || !stdout || !stderr || !(report instanceof Readable)) {
    child.on("error", () => {});
    return { ok: false, reason: "the sandbox's helper does not start" };
  }
  const said = tailBuffer(STDERR_BYTES);
  let reported = "";
  stderr.on("data", (chunk: Uint8Array) => said.add(chunk));
  report.on("data", (chunk: Uint8Array) => {
    if (reported.length < LARGEST_REPORT) reported += String(chunk);
  });
  for (const stream of [stdin, stdout, stderr, report]) stream.on("error", () => {});
  child.on("error", (error) => (failure = errorCode(error)));

  let cancelGrace = () => {};
  let exited = false;
  const ended = new Promise<string>((resolve) => {
    child.on("exit", (code, signal) => {
      exited = true;
      cancelGrace();
      // What was said last may still be on its way.
      systemClock.after(0, () => {
        for (const stream of [stdin, stdout, stderr, report]) stream.destroy();
        const found = readReport(reported);
        if (found?.end) keeper.note(found.end);
        const { refusal } = found ?? {};
        const stage = refusal
          ? `${refusal.stage} (errno ${refusal.errno}) ${refusal.path ?? ""}`.trim()
          : undefined;
        const line = said.text().trim().split("\n").at(-1) ?? "";
        resolve(failure ?? stage ?? (line === "" ? `it ended (${signal ?? code})` : line));
      });
    });
  });
  const held = [child, stdin, stdout, stderr, report];
  return {
    ok: true,
    child: {
      stdin,
      stdout,
      ended,
      kill() {
        if (exited) return;
        child.kill("SIGTERM");
        cancelGrace();
        cancelGrace = systemClock.after(HELPER_GRACE_MS, () => child.kill("SIGKILL"));
      },
      unref: () => held.forEach((one) => callOn(one, "unref")),
      ref: () => held.forEach((one) => callOn(one, "ref")),
    },
  };
}

/** Streams of a child have these on both runtimes, without saying so in their types. */
function callOn(one: object, method: "ref" | "unref"): void {
  const found: unknown = Reflect.get(one, method);
  if (typeof found === "function") Reflect.apply(found, one, []);
}
