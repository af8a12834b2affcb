import type { createPlugin as CreatePlugin, Plugin } from "@extism/extism";
import { PROGRAM_EXPORT } from "../abi.ts";
import type { CallHead } from "../protocol.ts";
import { OWN_EXPORT_PREFIX, OWN_WASI_MODULE } from "../rewrite_module.ts";
import type { ActiveCall, Live } from "./active_call.ts";
import { hostFunctions, type Said } from "./host_functions.ts";
import { openWasi, type Wasi } from "./wasi/wasi.ts";

/** What an export gave, with what it set on the way. */
export interface Returned {
  code: number;
  output: Uint8Array;
  /** The text of an error that it set. */
  error: string | null;
}

/** One instance of a module, for one hook. Never entered twice at a time; never used again after a call that threw. */
export interface Instance {
  /** Throws what the plugin throws. */
  run(call: ActiveCall): Promise<Returned>;
  /** The guest's memory, in bytes. */
  memoryBytes(): number;
  /** It has served long enough, or holds so much that a new one is better. */
  worn(): boolean;
  close(): void;
}

/** A plugin without a collector of its own fills its memory call by call. */
const MOST_CALLS = 10_000;
const MOST_MEMORY_SHARE = 0.5;
const SILENT = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };

/** Thrown when an instance cannot be made, which is not the plugin's doing at this call. */
export class NotInstantiable extends Error {}

/**
 * Makes an instance for the call, and lets it initialise itself as a part of that call: what happens then is bound as the call is.
 * Throws `NotInstantiable`, or what the plugin throws.
 */
export async function instantiate(
  createPlugin: typeof CreatePlugin,
  module: WebAssembly.Module,
  call: ActiveCall,
): Promise<Instance> {
  const { head } = call;
  const live: Live = { call, memory: undefined };
  const said: Said = { context: undefined, output: undefined, error: undefined };
  let wasi: Wasi | undefined;
  const usesWasi = WebAssembly.Module.imports(module).some((one) => one.module === OWN_WASI_MODULE);
  if (usesWasi) wasi = openWasi(live, head.folders);
  const wasiFunctions = Object.fromEntries(
    Object.entries(wasi?.functions ?? {}).map(([name, call]) => [
      name,
      (_context: unknown, ...values: (number | bigint)[]) => call(...values),
    ]),
  );
  let plugin: Plugin;
  let instance: WebAssembly.Instance;
  try {
    plugin = await createPlugin({ wasm: [{ module }] }, {
      useWasi: false,
      runInWorker: false,
      logger: Object.assign(Object.create(console), SILENT),
      functions: { ...hostFunctions(live, said), [OWN_WASI_MODULE]: wasiFunctions },
    });
    instance = await plugin.getInstance();
    const memory = Object.values(instance.exports).find((one) => one instanceof WebAssembly.Memory);
    live.memory = memory instanceof WebAssembly.Memory ? memory : undefined;
    if (head.export !== PROGRAM_EXPORT) {
      for (const name of ["hs_init", "_initialize"]) callable(instance, OWN_EXPORT_PREFIX + name)?.();
    }
  } catch (error) {
    wasi?.close();
    throw error instanceof WebAssembly.LinkError || isImportError(error)
      ? new NotInstantiable(error.message)
      : error;
  }
  const watched = watchReturn(instance, head);
  let calls = 0;

  return {
    async run(next) {
      live.call = next;
      said.output = said.error = undefined;
      calls += 1;
      try {
        await plugin.call(watched.name, next.input);
        if (!watched.entered()) throw new NotInstantiable("its export was not called");
        return {
          code: watched.code(),
          output: outputOf(next, said),
          error: said.error === undefined ? null : said.context?.read(said.error)?.text() ?? "",
        };
      } finally {
        live.call = undefined;
      }
    },
    memoryBytes: () => live.memory?.buffer.byteLength ?? 0,
    worn() {
      const held = live.memory?.buffer.byteLength ?? 0;
      return head.export === PROGRAM_EXPORT || calls >= MOST_CALLS ||
        held > head.memoryBytes * MOST_MEMORY_SHARE;
    },
    close: () => wasi?.close(),
  };
}

/** The SDK drops what an export returns, so it is given one that keeps it. */
function watchReturn(instance: WebAssembly.Instance, head: CallHead) {
  const name = head.export === PROGRAM_EXPORT ? OWN_EXPORT_PREFIX + PROGRAM_EXPORT : head.export;
  const run = callable(instance, name);
  if (!run) throw new NotInstantiable(`it does not export a function "${head.export}"`);
  let code = 0;
  let entered = false;
  const shown = {
    [name]: () => {
      entered = true;
      const value: unknown = run();
      code = typeof value === "number" ? value | 0 : 0;
    },
  };
  Object.defineProperty(instance, "exports", { value: shown });
  return { name, code: () => code, entered: () => entered };
}

function outputOf(call: ActiveCall, said: Said): Uint8Array {
  if (call.head.outputBytes === 0) return new Uint8Array();
  if (said.output) {
    const { at, length } = said.output;
    return said.context?.read(at)?.bytes().slice(0, length) ?? new Uint8Array();
  }
  const whole = new Uint8Array(call.stdoutBytes);
  let at = 0;
  for (const part of call.stdout) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function callable(instance: WebAssembly.Instance, name: string): (() => unknown) | undefined {
  const found = Object.hasOwn(instance.exports, name) ? instance.exports[name] : undefined;
  return typeof found === "function" ? () => Reflect.apply(found, undefined, []) : undefined;
}

/** The SDK's own words for an import that is missing. */
function isImportError(error: unknown): error is Error {
  return error instanceof Error && error.message.startsWith("from module ");
}
