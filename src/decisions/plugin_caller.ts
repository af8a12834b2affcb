import { notYetMessage } from "../config/refusal.ts";

/** The port to the sandbox of plugins: `{method, params}` in, null or decisions out. */
export interface PluginCaller {
  call(
    plugin: string,
    config: Readonly<Record<string, unknown>>,
    input: string,
    limitMs: number,
  ): Promise<string>;
}

/** Why a plugin cannot be an executor; undefined where plugins are there. */
export function wasmProblem(): string | undefined {
  return notYetMessage("wasm", "plugins");
}
