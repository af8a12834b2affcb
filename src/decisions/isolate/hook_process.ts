import { Buffer } from "node:buffer";
import { spawn } from "node:child_process";
import process from "node:process";
import { Duplex } from "node:stream";
import { childEnv } from "../../adapter/child_env.ts";
import { endTree, treeRoot } from "../../adapter/end_tree.ts";
import { selfCommand } from "../../adapter/self_command.ts";
import type { Clock } from "../../clock/clock.ts";
import type { DecisionPoint } from "../../points/decision_shapes.ts";
import { accompanied } from "../../sandbox/linux/accompany.ts";
import { LOAD_LIMIT_MS } from "../load_local.ts";
import {
  CHANNEL_FD,
  HOOK_HOST_VERB,
  type HostCall,
  type HostLine,
  type HostStart,
  lineReader,
} from "./protocol.ts";

/** What became of a call. */
export type Called =
  | { state: "answered"; decisions: object }
  /** The hook's own failure, as `Class: message`. */
  | { state: "failed"; error: string }
  /** The process ended first. */
  | { state: "ended"; reason: string; begun: boolean };

export interface RunningCall {
  done: Promise<Called>;
  /** Nobody waits for it any more. The process is ended, unless something else keeps it from this call. */
  giveUp(): void;
}

/** One process that serves one hook. */
export interface HookProcess {
  points: readonly DecisionPoint[];
  call(call: Omit<HostCall, "call" | "behind">): RunningCall;
  /** Ends it with all that it started. */
  end(reason: string): Promise<void>;
  gone(): boolean;
}

interface Waiting {
  begun: boolean;
  givenUp: boolean;
  settle(called: Called): void;
}

/** Starts the process and has it load its hook. Rejects with why that cannot be. */
export async function startHookProcess(
  target: HostStart["target"],
  folder: string,
  clock: Clock,
): Promise<HookProcess> {
  const [file, ...args] = await accompanied([...selfCommand(), HOOK_HOST_VERB]);
  const nonce = random();
  const marker = `REYN_TREE_${random()}`;
  const child = spawn(file, args, {
    detached: true,
    env: childEnv(process.env, { [marker]: "1" }),
    // What it prints goes to stderr.
    stdio: ["ignore", 2, "inherit", "pipe"],
  });
  const channel = child.stdio[CHANNEL_FD];
  if (!(channel instanceof Duplex)) {
    child.on("error", () => {});
    throw new Error("the process of the hook could not be started");
  }
  let gone = false;
  let calls = 0;
  const waiting = new Map<number, Waiting>();
  const root = child.pid === undefined ? undefined : treeRoot(child.pid, marker);
  // A process that waits for calls does not hold this one.
  for (const one of [child, channel]) callUnref(one);

  return await new Promise<HookProcess>((resolve, reject) => {
    const inTime = clock.after(LOAD_LIMIT_MS, () => void end(NOT_LOADED));
    const over = (reason: string) => {
      if (gone) return;
      gone = true;
      inTime();
      reject(new Error(reason));
      for (const { settle, begun } of waiting.values()) settle({ state: "ended", reason, begun });
      waiting.clear();
    };
    const end = async (reason: string): Promise<void> => {
      over(reason);
      if (root) await endTree(root, clock, 0);
      channel.destroy();
    };
    const call: HookProcess["call"] = (question) => {
      const id = ++calls;
      const behind = waiting.size > 0;
      let settle: Waiting["settle"] = () => {};
      const done = new Promise<Called>((resolveCall) => (settle = resolveCall));
      const own: Waiting = { begun: !behind, givenUp: false, settle };
      if (gone) settle({ state: "ended", reason: ENDED, begun: false });
      else {
        waiting.set(id, own);
        channel.write(`${JSON.stringify({ ...question, call: id, behind })}\n`);
      }
      const giveUp = () => {
        if (!waiting.has(id)) return;
        own.givenUp = true;
        if (own.begun) void end(TOO_LONG);
      };
      return { done, giveUp };
    };
    const onLine = (line: string) => {
      if (gone || !line.startsWith(nonce)) return;
      const message = JSON.parse(line.slice(nonce.length)) as HostLine;
      if ("call" in message) {
        const { settle } = waiting.get(message.call) ?? {};
        waiting.delete(message.call);
        settle?.(
          message.ok
            ? { state: "answered", decisions: message.decisions }
            : { state: "failed", error: message.error },
        );
      } else if ("begun" in message) {
        const own = waiting.get(message.begun);
        if (own) own.begun = true;
        // It works on what nobody waits for, and may never come back.
        if (own?.givenUp === true) void end(TOO_LONG);
      } else if (message.loaded) {
        inTime();
        resolve({ points: message.points, call, end, gone: () => gone });
      } else {
        reject(new Error(message.reason));
        void end(message.reason);
      }
    };
    const read = lineReader(onLine, () => void end("the process of the hook said too much"));
    channel.setEncoding("utf8");
    channel.on("data", (chunk: string) => read(chunk));
    channel.on("error", () => {});
    child.on("error", () => over("the process of the hook could not be started"));
    child.on("exit", (code, signal) => {
      // What it has started goes with it.
      void end(`the process of the hook ended (${signal ?? `exit ${code}`})`);
    });
    const first: HostStart = { nonce, target, folder };
    channel.write(`${JSON.stringify(first)}\n`);
  });
}

const ENDED = "the process of the hook was ended";
const NOT_LOADED = `it was not loaded within ${LOAD_LIMIT_MS / 1000} s`;
const TOO_LONG = `${ENDED}: an answer took too long`;

/** Both runtimes have it on sockets, without saying so in the types of a child's streams. */
function callUnref(one: object): void {
  const found: unknown = Reflect.get(one, "unref");
  if (typeof found === "function") Reflect.apply(found, one, []);
}

function random(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString("hex");
}
