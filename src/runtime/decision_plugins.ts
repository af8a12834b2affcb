import type { Clock } from "../clock/clock.ts";
import type { PluginCaller } from "../decisions/plugin_caller.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { PluginHost } from "../sandbox/wasm/plugin_host.ts";
import { deniedBesides, surroundings } from "./surroundings.ts";

interface Opened {
  sandbox: Sandbox;
  host: PluginHost;
}

/** Makes ports to one sandbox for the plugins among decision hooks. It is opened by the first that calls, closed by the last that lets go. */
export function decisionPlugins(controlDir: string, clock: Clock): () => PluginCaller {
  let users = 0;
  let opening: Promise<Opened> | undefined;
  let faults: PluginHost["faults"] | undefined;
  const opened = () =>
    opening ??= open(controlDir, clock).then((ready) => {
      faults = ready.host.faults;
      return ready;
    });
  return () => {
    users++;
    let released = false;
    return {
      call: async (call) => await (await opened()).host.call(call),
      warm: () => void opened().then(({ host }) => host.warm(), () => {}),
      faults: (owner) => faults?.(owner) ?? 0,
      async problem() {
        const probe = await (await opened()).sandbox.probe();
        return probe.confirmed ? undefined : `the sandbox is not confirmed: ${probe.reason}`;
      },
      async release() {
        if (released) return;
        released = true;
        users--;
        if (users > 0 || opening === undefined) return;
        const { host, sandbox } = await opening;
        opening = undefined;
        await host.close();
        sandbox.close();
      },
    };
  };
}

/** Only a declaration with a plugin needs any of this. */
async function open(controlDir: string, clock: Clock): Promise<Opened> {
  const [{ openSandbox }, { createPluginHost }] = await Promise.all([
    import("../sandbox/sandbox.ts"),
    import("../sandbox/wasm/plugin_host.ts"),
  ]);
  const around = surroundings(controlDir);
  const sandbox = openSandbox();
  const host = createPluginHost({
    sandbox,
    clock,
    controlDir,
    homes: around.homes,
    denyRead: deniedBesides({ backend: "auto", denyRead: [], policy: {} }, around),
  });
  return { sandbox, host };
}
