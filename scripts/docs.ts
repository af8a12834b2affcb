// Writes the tables of the manual from the tables of the source; with --check it only says which are out of date.
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { DOC_TABLES, withTable } from "./docs/tables.ts";

const check = process.argv.includes("--check");
for (const table of DOC_TABLES) {
  const url = new URL(`../${table.file}`, import.meta.url);
  const page = readFileSync(url, "utf8");
  const fresh = withTable(page, table);
  if (fresh === page) continue;
  if (!check) {
    writeFileSync(url, fresh);
    continue;
  }
  console.error(`${table.file}: the table "${table.mark}" is out of date (run \`deno task docs\`)`);
  process.exitCode = 1;
}
