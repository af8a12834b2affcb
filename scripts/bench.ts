import { join } from "node:path";
import { argv, exit, versions } from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type BenchRow, benchTable, keepsGoal, ratioOf } from "./lib/bench_table.ts";
import { bunPath } from "./lib/bun_path.ts";
import { listFiles, REPO } from "./lib/repo.ts";
import { runProcess } from "./lib/run_process.ts";

/**
 * `deno task bench [--filter=TEXT] [--json]`: runs every `scripts/bench/*_bench.ts`, each of which exports
 * `rows(): Promise<BenchRow[]>`, under Bun, the runtime of the shipped binary. Exit 1 when one cannot be run; a missed
 * goal is shown, and no failure, since it depends on the machine.
 */
if (!("bun" in versions)) {
  const { code } = await runProcess(await bunPath(), [fileURLToPath(import.meta.url), ...argv.slice(2)], {
    inherit: true,
    timeoutMs: 60 * 60_000,
  });
  exit(code);
}

const { values } = parseArgs({
  args: argv.slice(2),
  options: { filter: { type: "string", default: "" }, json: { type: "boolean", default: false } },
});
const folder = join(REPO, "scripts", "bench");
const files = await listFiles(folder, {
  keep: (path) => path.endsWith("_bench.ts") && path.includes(values.filter),
});
if (files.length === 0) {
  console.error(`no bench in ${folder} has "${values.filter}" in its name`);
  exit(1);
}
const all: BenchRow[] = [];
for (const file of files) {
  const bench: { rows?: () => Promise<BenchRow[]> } = await import(join(folder, file));
  if (typeof bench.rows !== "function") {
    console.error(`${file} exports no rows()`);
    exit(1);
  }
  const rows = await bench.rows();
  all.push(...rows);
  if (!values.json) console.log(`${file}\n${benchTable(rows)}\n`);
}
if (values.json) {
  const rows = all.map((row) => ({ ...row, ratio: ratioOf(row) ?? null, kept: keepsGoal(row) ?? null }));
  console.log(JSON.stringify({ runtime: `bun ${versions["bun"]}`, rows }, null, 2));
}
exit(0);
