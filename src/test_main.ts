import process from "node:process";
import { isPluginHost, servePluginsHere } from "./cli/plugin_host.ts";

const args = process.argv.slice(2);
if (isPluginHost(args)) {
  await servePluginsHere();
} else {
  const [{ main }, { testHost }] = await Promise.all([import("./cli/main.ts"), import("./cli/test_host.ts")]);
  await main(args, testHost());
}
