import process from "node:process";
import { systemHost } from "./cli/system_host.ts";
import { main } from "./cli/main.ts";

await main(process.argv.slice(2), systemHost());
