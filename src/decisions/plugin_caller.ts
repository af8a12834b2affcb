import type { PluginHost } from "../sandbox/wasm/plugin_host.ts";

/** The port to the sandbox of plugins, for one hook. Nothing is started before the first call, or `warm`. */
export interface PluginCaller extends Pick<PluginHost, "call"> {
  warm(): void;
  /** How often in a row the plugin of this owner failed. */
  faults(owner: string): number;
  /** Why no plugin can run here; undefined when one can. */
  problem(): Promise<string | undefined>;
  /** The hook calls no more; the last one takes the processes with it. */
  release(): Promise<void>;
}
