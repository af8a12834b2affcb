import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { systemClock } from "../../src/clock/clock.ts";
import { createGuardedFetch } from "../../src/egress/guarded_fetch.ts";
import { sendForPlugins } from "../../src/runtime/plugin_requests.ts";
import { openSandbox } from "../../src/sandbox/sandbox.ts";
import { createPluginHost, type PluginCall } from "../../src/sandbox/wasm/plugin_host.ts";
import type { PluginResult } from "../../src/sandbox/wasm/result.ts";

export interface Examples {
  /** Calls an example as a hook does. `owner` keeps the variables. */
  call(example: string, event: unknown, rest?: Partial<PluginCall>): Promise<PluginResult>;
  /** The same, of which the output is wanted. */
  json(example: string, event: unknown, rest?: Partial<PluginCall>): Promise<unknown>;
  close(): Promise<void>;
}

/** The committed examples in the real host, with the real fetch. */
export function openExamples(): Examples {
  const sandbox = openSandbox();
  const host = createPluginHost({
    sandbox,
    clock: systemClock,
    controlDir: tmpdir(),
    homes: [],
    denyRead: [],
    send: sendForPlugins(createGuardedFetch({ clock: systemClock })),
  });
  const call: Examples["call"] = async (example, event, rest = {}) => {
    const bytes = await readFile(new URL(`../../plugins/${example}/${example}.wasm`, import.meta.url));
    return await host.call({
      owner: example,
      module: { bytes, hash: createHash("sha256").update(bytes).digest("hex") },
      export: "run",
      input: new TextEncoder().encode(`${typeof event === "string" ? event : JSON.stringify(event)}\n`),
      ...rest,
    });
  };
  return {
    call,
    async json(example, event, rest) {
      const result = await call(example, event, rest);
      assert.equal(result.outcome, "ok", `${result.outcome} ${result.reason} ${result.error} ${result.log}`);
      return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(result.output));
    },
    async close() {
      await host.close();
      sandbox.close();
    },
  };
}

export function turnEnd(rest: Readonly<Record<string, unknown>> = {}) {
  return {
    point: "turn_end",
    agent_name: "default",
    chain_id: null,
    user_text: "hello",
    status: "ok",
    hook_driven_turns: 0,
    ...rest,
  };
}
