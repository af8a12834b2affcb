import process from "node:process";
import { PLUGIN_VERB } from "../sandbox/wasm/verb.ts";

/** Whether reyn started this process itself, to run plugins in; nobody else has a use for it. */
export function isPluginHost(args: readonly string[]): boolean {
  return args.length === 1 && args[0] === PLUGIN_VERB;
}

/** Runs plugins until reyn closes the pipe, then ends the process. */
export async function servePluginsHere(): Promise<void> {
  const { servePlugins } = await import("../sandbox/wasm/child/main.ts");
  process.exit(await servePlugins());
}
