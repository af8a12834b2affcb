import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { systemClock } from "../../../src/clock/clock.ts";
import { openSandbox } from "../../../src/sandbox/sandbox.ts";
import type { Module } from "../../../src/sandbox/wasm/plugin_child.ts";
import {
  createPluginHost,
  type PluginCall,
  type PluginHost,
  type PluginHostOptions,
} from "../../../src/sandbox/wasm/plugin_host.ts";
import type { PluginResult } from "../../../src/sandbox/wasm/result.ts";
import { makePlace, type Place } from "../helpers.ts";
import { plugin, type PluginText } from "./modules.ts";

export interface TestHost {
  place: Place;
  host: PluginHost;
  /** Calls `run` of a module; every test has an owner of its own unless it names one. */
  call(module: Module, rest?: Partial<PluginCall>): Promise<PluginResult>;
  close(): Promise<void>;
}

let owners = 0;

/** A host with processes of its own, one of which is ready, unless `isReady` is false. */
export async function openTestHost(
  options: Partial<PluginHostOptions> = {},
  { isReady = true }: { isReady?: boolean } = {},
): Promise<TestHost> {
  const place = makePlace();
  const sandbox = openSandbox();
  const host = createPluginHost({
    sandbox,
    clock: systemClock,
    controlDir: place.control,
    homes: [place.home],
    denyRead: [],
    ...options,
  });
  const call = (module: Module, rest: Partial<PluginCall> = {}) =>
    host.call({
      owner: `test ${owners++}`,
      module,
      export: "run",
      input: new TextEncoder().encode("{}"),
      ...rest,
    });
  if (isReady) {
    const ready = await call(await made({ run: "(i32.const 0)" }));
    if (ready.outcome !== "ok") throw new Error(`no plugin runs here: ${ready.outcome} ${ready.reason}`);
  }
  return {
    place,
    host,
    call,
    async close() {
      await host.close();
      sandbox.close();
      place.remove();
    },
  };
}

export function moduleOf(bytes: Uint8Array): Module {
  return { bytes, hash: createHash("sha256").update(bytes).digest("hex") };
}

export async function made(text: PluginText): Promise<Module> {
  return moduleOf(await plugin(text));
}

/** The sandbox's helpers that hold processes for plugins of this one. */
export function pluginProcesses(): number[] {
  return running((pid) =>
    readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(`--runtime-pid\0${process.pid}\0`)
  );
}

/** The processes that such a helper has started. */
export function processesOf(helper: number): number[] {
  return running((pid) => readFileSync(`/proc/${pid}/status`, "utf8").includes(`\nPPid:\t${helper}\n`));
}

function running(isWanted: (pid: number) => boolean): number[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map(Number).filter((pid) => {
    try {
      return isWanted(pid) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
    } catch {
      return false;
    }
  });
}

export function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
