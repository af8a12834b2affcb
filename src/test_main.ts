import process from "node:process";
import { main } from "./cli/main.ts";
import { isPluginHost, servePluginsHere } from "./cli/plugin_host.ts";
import { testHost } from "./cli/test_host.ts";

const args = process.argv.slice(2);
if (isPluginHost(args)) await servePluginsHere();
else await main(args, testHost());
