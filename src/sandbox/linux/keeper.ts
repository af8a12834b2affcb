import { Buffer } from "node:buffer";
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import path from "node:path";
import type { HelperEnd } from "./helper_report.ts";
import type { InstalledHelper } from "./install_helper.ts";

/** Keeps rule sets between runs, once one was large enough for that to pay. */
export interface Keeper {
  /** The helper's options by which it finds the keeper; none before there is one. */
  arguments(): string[];
  /** What a run reported: the first large rule set starts the keeper. */
  note(end: HelperEnd): void;
  close(): void;
}

/** Fewer are built in less time than a kept set takes to be fetched and looked over. */
const WORTHWHILE_RULES = 100;
/** Longest path of a Unix socket, in bytes, with its null. */
const LONGEST_SOCKET_PATH = 108;
/** A keeper that ends by itself is not started again and again. */
const MOST_STARTS = 3;

export function openKeeper(helper: InstalledHelper): Keeper {
  const socket = path.join(path.dirname(helper.file), `keep-${randomUUID().slice(0, 8)}`);
  let child: ChildProcess | undefined;
  let starts = Buffer.byteLength(socket) < LONGEST_SOCKET_PATH ? 0 : MOST_STARTS;

  const start = () => {
    starts += 1;
    try {
      const started = spawn(helper.executable, ["--keep", socket], {
        cwd: "/",
        env: {},
        // It ends when this pipe does, so it never outlives reyn.
        stdio: ["pipe", "ignore", "ignore"],
      });
      started.on("error", () => {});
      started.on("exit", () => {
        if (child === started) child = undefined;
      });
      started.stdin?.on("error", () => {});
      started.unref();
      unref(started.stdin);
      child = started;
    } catch {
      child = undefined;
    }
  };

  return {
    arguments: () => child?.pid === undefined ? [] : ["--keeper", socket, "--keeper-pid", String(child.pid)],
    note(end) {
      if (end.rules >= WORTHWHILE_RULES && !child && starts < MOST_STARTS) start();
    },
    close() {
      starts = MOST_STARTS;
      child?.stdin?.destroy();
      child?.kill("SIGKILL");
      child = undefined;
    },
  };
}

/** So that reyn may end while the keeper is there. */
function unref(stream: unknown): void {
  if (typeof stream !== "object" || stream === null || !("unref" in stream)) return;
  if (typeof stream.unref === "function") stream.unref();
}
