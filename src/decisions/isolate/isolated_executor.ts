import { Buffer } from "node:buffer";
import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { childEnv } from "../../adapter/child_env.ts";
import { endTree, treeRoot } from "../../adapter/end_tree.ts";
import { selfCommand } from "../../adapter/self_command.ts";
import type { Clock } from "../../clock/clock.ts";
import type { DecisionPoint } from "../../points/decision_shapes.ts";
import type { LocalTarget } from "../declaration.ts";
import type { Executor } from "../executor.ts";
import { HookFailure } from "../failure.ts";
import type { Loaded } from "../load_local.ts";
import { HOOK_HOST_VERB, type HostCall, type HostLine, type HostStart, lineReader } from "./protocol.ts";

interface Host {
  points: readonly DecisionPoint[];
  call(call: Omit<HostCall, "call">): Promise<object>;
  end(): Promise<void>;
  readonly gone: boolean;
}

/**
 * Runs a hook in a child process of this program, which is ended with all that it started when the hook takes too long.
 * The child lives on between calls; after its end the next call starts another.
 */
export async function loadIsolated(
  target: Omit<LocalTarget, "isolate">,
  folder: string,
  clock: Clock,
): Promise<Loaded> {
  let host: Promise<Host> = startHost(target, folder, clock);
  let points: readonly DecisionPoint[];
  try {
    ({ points } = await host);
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : String(error) };
  }
  const executor: Executor = {
    async ask({ point, context, id }) {
      let current = await host.catch(() => undefined);
      if (current === undefined || current.gone) {
        host = startHost(target, folder, clock);
        current = await host;
      }
      return await current.call({ point, context, id });
    },
    giveUp: () => void end(),
    close: end,
  };
  async function end(): Promise<void> {
    await host.then((current) => current.end(), () => {});
  }
  return { ok: true, points, executor };
}

function startHost(target: HostStart["target"], folder: string, clock: Clock): Promise<Host> {
  const [file, ...args] = [...selfCommand(), HOOK_HOST_VERB];
  const nonce = random();
  const marker = `REYN_TREE_${random()}`;
  const child = spawn(file ?? "", args, {
    detached: true,
    env: childEnv(process.env, { [marker]: "1" }),
    stdio: ["pipe", "pipe", "inherit"],
  });
  const { stdin, stdout, pid } = child;
  if (!stdin || !stdout) return Promise.reject(new Error("the process of the hook could not be started"));
  let gone = false;
  let calls = 0;
  const waiting = new Map<number, { resolve(value: object): void; reject(error: Error): void }>();
  const root = pid === undefined ? undefined : treeRoot(pid, marker);
  letGo(child);

  return new Promise<Host>((resolve, reject) => {
    const over = (reason: string) => {
      gone = true;
      reject(new Error(reason));
      for (const { reject: fail } of waiting.values()) fail(new HookFailure("ExecutorEnded", reason));
      waiting.clear();
    };
    const end = async (): Promise<void> => {
      over("the process of the hook was ended");
      if (root) await endTree(root, clock, 0);
    };
    const onLine = (line: string) => {
      if (!line.startsWith(nonce)) return;
      const message = JSON.parse(line.slice(nonce.length)) as HostLine;
      if ("call" in message) {
        const call = waiting.get(message.call);
        waiting.delete(message.call);
        if (message.ok) call?.resolve(message.decisions);
        else call?.reject(passedOn(message.error));
      } else if (!message.loaded) {
        reject(new Error(message.reason));
        void end();
      } else {
        resolve({
          points: message.points,
          end,
          call: (call) =>
            new Promise((done, fail) => {
              calls++;
              waiting.set(calls, { resolve: done, reject: fail });
              stdin.write(`${JSON.stringify({ ...call, call: calls })}\n`);
            }),
          get gone() {
            return gone;
          },
        });
      }
    };
    const read = lineReader(onLine, () => void end());
    stdout.setEncoding("utf8");
    stdout.on("data", (chunk: string) => read(chunk));
    stdin.on("error", () => {});
    child.on("error", () => over("the process of the hook could not be started"));
    child.on("exit", (code, signal) => {
      over(`the process of the hook ended (${signal ?? `exit ${code}`})`);
      // What it has started goes with it.
      if (root) void endTree(root, clock, 0);
    });
    const first: HostStart = { nonce, target, folder };
    stdin.write(`${JSON.stringify(first)}\n`);
  });
}

/** The failure as the child words it: `Class: message`. */
function passedOn(text: string): Error {
  const [, name = "Error", message = text] = /^([\w$]+): (.*)$/s.exec(text) ?? [];
  return Object.assign(new Error(message), { name });
}

/** A child that waits for calls does not hold this process. */
function letGo(child: ChildProcess): void {
  child.unref();
  for (const stream of [child.stdin, child.stdout]) {
    if (stream && "unref" in stream && typeof stream.unref === "function") stream.unref();
  }
}

function random(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString("hex");
}
