import process from "node:process";
import { systemHost } from "./cli/system_host.ts";
import { main } from "./cli/main.ts";
import { isPluginHost, servePluginsHere } from "./cli/plugin_host.ts";

const args = process.argv.slice(2);
if (isPluginHost(args)) await servePluginsHere();
else await main(args, systemHost());
