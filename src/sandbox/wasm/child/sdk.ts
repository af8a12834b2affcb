import type { createPlugin as CreatePlugin } from "@extism/extism";

/**
 * The SDK, loaded for a process that waits for each answer. Where the engine can suspend a module the SDK makes requests over the network
 * by itself and puts our function aside; a process that may not reach the network has no use for that.
 */
export async function loadSdk(): Promise<typeof CreatePlugin> {
  for (const name of ["promising", "Suspending"]) Reflect.deleteProperty(WebAssembly, name);
  const sdk = await import("@extism/extism");
  return sdk.createPlugin;
}
