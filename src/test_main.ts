import process from "node:process";
import { main } from "./cli/main.ts";
import { testHost } from "./cli/test_host.ts";

await main(process.argv.slice(2), testHost());
