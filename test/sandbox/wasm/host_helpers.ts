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

/** A host with processes of its own, one of which is ready. */
export async function openTestHost(options: Partial<PluginHostOptions> = {}): Promise<TestHost> {
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
  const ready = await call(await made({ run: "(i32.const 0)" }));
  if (ready.outcome !== "ok") throw new Error(`no plugin runs here: ${ready.outcome} ${ready.reason}`);
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

/** Processes that run plugins for this one. */
export function pluginProcesses(): number[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).flatMap((name) => {
    try {
      const command = readFileSync(`/proc/${name}/cmdline`, "utf8");
      const status = readFileSync(`/proc/${name}/status`, "utf8");
      const isOurs = command.includes(`--runtime-pid\0${process.pid}\0`);
      return isOurs && !/^State:\s+Z/m.test(status) ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

export function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
