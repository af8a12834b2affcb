// Writes the tables of the manual from the tables of the source. Run `deno fmt docs` afterwards.
import { writeFileSync } from "node:fs";
import { outdatedTables, pageOf, withTable } from "./docs/tables.ts";

for (const table of outdatedTables()) writeFileSync(pageOf(table).url, withTable(pageOf(table).text, table));
