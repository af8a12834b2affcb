import process from "node:process";
import { isPluginHost, servePluginsHere } from "./cli/plugin_host.ts";

// A process for plugins is waited for, so it loads nothing else.
const args = process.argv.slice(2);
if (isPluginHost(args)) {
  await servePluginsHere();
} else {
  const [{ main }, { systemHost }] = await Promise.all([
    import("./cli/main.ts"),
    import("./cli/system_host.ts"),
  ]);
  await main(args, systemHost());
}
