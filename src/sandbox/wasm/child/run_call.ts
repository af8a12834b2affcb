import type { createPlugin as CreatePlugin } from "@extism/extism";
import { PAGE_BYTES } from "../limits.ts";
import type { CallHead, InnerOutcome, ResultHead } from "../protocol.ts";
import { rewriteModule } from "../rewrite_module.ts";
import type { ActiveCall } from "./active_call.ts";
import { type Budget, openBudget } from "./budget.ts";
import { type Instance, instantiate, NotInstantiable, type Returned } from "./instance.ts";
import { ProgramExit } from "./wasi/wasi.ts";

export interface CallDone {
  head: ResultHead;
  output: Uint8Array;
}

/** Everything that one process holds between calls. */
export interface Plugins {
  /** A module's bytes under its hash. */
  keep(hash: string, bytes: Uint8Array): void;
  forget(hash: string): void;
  /** Never throws. */
  run(head: CallHead, input: Uint8Array, ask: ActiveCall["ask"]): Promise<CallDone>;
}

/** Instances that are held; the one unused for the longest goes. */
const MOST_INSTANCES = 32;
const MOST_TEXT = 2000;
/** A plugin that trapped with so little of its memory left is taken to have run out of it. */
const FULL_MEMORY_SHARE = 1 / 16;
const NO_OUTPUT = new Uint8Array();

export function openPlugins(createPlugin: typeof CreatePlugin): Plugins {
  const modules = new Map<string, Uint8Array>();
  const compiled = new Map<string, WebAssembly.Module>();
  const instances = new Map<string, Instance>();

  const moduleFor = async (head: CallHead): Promise<WebAssembly.Module> => {
    const key = `${head.hash}:${head.memoryBytes}`;
    const known = compiled.get(key);
    if (known) return known;
    const bytes = modules.get(head.hash);
    if (!bytes) throw new NotInstantiable("its module is not here");
    let module: WebAssembly.Module;
    try {
      module = await WebAssembly.compile(rewriteModule(bytes, head.memoryBytes));
    } catch (error) {
      throw new NotInstantiable(textOf(error));
    }
    compiled.set(key, module);
    return module;
  };
  const drop = (key: string) => {
    instances.get(key)?.close();
    instances.delete(key);
  };

  return {
    keep: (hash, bytes) => void modules.set(hash, bytes),
    forget(hash) {
      modules.delete(hash);
      for (const key of compiled.keys()) if (key.startsWith(`${hash}:`)) compiled.delete(key);
      for (const key of instances.keys()) if (key.startsWith(`${hash}:`)) drop(key);
    },
    async run(head, input, ask) {
      const budget = openBudget({
        allocBytes: head.memoryBytes + input.length,
        logLines: head.logLines,
        logBytes: head.logBytes,
        hostCalls: head.hostCalls,
      });
      const began = performance.now();
      const call: ActiveCall = {
        head,
        input,
        budget,
        ask,
        now: () => head.now + performance.now() - began,
        stdout: [],
        stdoutBytes: 0,
      };
      const key = `${head.hash}:${head.instance}`;
      let instance = instances.get(key);
      instances.delete(key);
      try {
        instance ??= await instantiate(createPlugin, await moduleFor(head), call);
        const returned = await instance.run(call);
        const memoryBytes = instance.memoryBytes();
        if (budget.exceeded) {
          instance.close();
          return failed(budget.exceeded.outcome, budget.exceeded.reason, budget, memoryBytes);
        }
        if (instance.worn()) instance.close();
        else instances.set(key, instance);
        const [oldest] = instances.keys();
        if (instances.size > MOST_INSTANCES && oldest !== undefined) drop(oldest);
        return returnedResult(returned, budget, memoryBytes);
      } catch (error) {
        const memoryBytes = instance?.memoryBytes() ?? 0;
        instance?.close();
        if (error instanceof ProgramExit) {
          const output = concat(call.stdout, call.stdoutBytes, head.outputBytes);
          return returnedResult({ code: error.code, output, error: null }, budget, memoryBytes);
        }
        return failure(error, head, budget, memoryBytes);
      }
    },
  };
}

function returnedResult(returned: Returned, budget: Budget, memoryBytes: number): CallDone {
  const isOk = returned.code === 0 && returned.error === null;
  const error = returned.error === null ? null : cut(returned.error);
  return {
    head: { ...result(isOk ? "ok" : "exit", null, budget, memoryBytes), returncode: returned.code, error },
    output: returned.output,
  };
}

function failure(error: unknown, head: CallHead, budget: Budget, memoryBytes: number): CallDone {
  if (budget.exceeded) return failed(budget.exceeded.outcome, budget.exceeded.reason, budget, memoryBytes);
  if (error instanceof NotInstantiable) return failed("launch_failed", error.message, budget, memoryBytes);
  const text = textOf(error);
  const left = head.memoryBytes - memoryBytes;
  if (memoryBytes > 0 && left < Math.max(head.memoryBytes * FULL_MEMORY_SHARE, PAGE_BYTES)) {
    const reason =
      `it trapped with ${memoryBytes} of at most ${head.memoryBytes} bytes of memory in use: ${text}`;
    return failed("memory_limit", reason, budget, memoryBytes);
  }
  return failed("trap", text, budget, memoryBytes);
}

function failed(outcome: InnerOutcome, reason: string, budget: Budget, memoryBytes: number): CallDone {
  return { head: result(outcome, cut(reason), budget, memoryBytes), output: NO_OUTPUT };
}

function result(
  outcome: InnerOutcome,
  reason: string | null,
  budget: Budget,
  memoryBytes: number,
): ResultHead {
  return {
    outcome,
    returncode: -1,
    reason,
    error: null,
    log: budget.logText(),
    hostCalls: budget.hostCalls,
    memoryBytes,
    denied: [...budget.denied],
    deniedMore: budget.deniedMore,
  };
}

function concat(parts: readonly Uint8Array[], length: number, most: number): Uint8Array {
  if (most === 0) return NO_OUTPUT;
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return "an exception of its own that nothing in it caught";
  const [line = ""] = error.message.split("\n");
  return cut(line);
}

function cut(text: string): string {
  return text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}…` : text;
}
