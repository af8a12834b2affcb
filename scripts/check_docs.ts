// Says which tables of the manual are out of date with the tables of the source; exit 1 when one is.
import process from "node:process";
import { outdatedTables } from "./docs/tables.ts";

const outdated = outdatedTables();
for (const { file, mark } of outdated) {
  console.error(`${file}: the table "${mark}" is out of date (run \`deno task docs\`)`);
}
process.exitCode = outdated.length > 0 ? 1 : 0;
