import { availableParallelism } from "node:os";
import { dirname, join, resolve } from "node:path";
import process, { argv, cwd, env, exit } from "node:process";
import { parseArgs } from "node:util";
import { build } from "../build/build.ts";
import { exists, REPO } from "../lib/repo.ts";
import { discoverCases } from "./discover.ts";
import { asJson, describeFailure, summarize } from "./report.ts";
import { runAll } from "./run_all.ts";
import { closeWorlds } from "./world.ts";

/**
 * `deno task cases [FOLDER…] [--filter=TEXT] [--jobs=N] [--keep] [--list] [--json]`: runs black-box cases, default all
 * of test/cases, against `REYN_BIN` (default dist/reyn, built when its sources changed). The last line is
 * `N passed, N failed`. Exit 1 when a case failed or could not be read, 2 for a wrong command line.
 */
const { values, positionals } = parseArgs({
  args: argv.slice(2),
  allowPositionals: true,
  options: {
    filter: { type: "string", default: "" },
    jobs: { type: "string", default: String(availableParallelism()) },
    keep: { type: "boolean", default: false },
    list: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});
const jobs = Number(values.jobs);
if (!Number.isInteger(jobs) || jobs < 1) {
  console.error(`--jobs=${values.jobs}: a number of 1 or more`);
  exit(2);
}
const folders = positionals.length > 0 ? positionals : [join(REPO, "test", "cases")];
const { rows, findings } = await discoverCases(folders, values.filter, cwd());
for (const finding of findings) console.error(finding);
if (values.list) {
  for (const row of rows) console.log(`${row.name}  ${row.case.shows}`);
  exit(findings.length > 0 ? 1 : 0);
}

const binary = resolve(env["REYN_BIN"] ?? join(REPO, "dist", "reyn"));
const testBinary = resolve(env["REYN_TEST_BIN"] ?? join(dirname(binary), "reyn-test"));
if (env["REYN_BIN"] === undefined && rows.length > 0) {
  await build({ with: "bun" }).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    exit(1);
  });
}
const needed = [
  ...(rows.some((row) => row.case.binary !== "test") ? [binary] : []),
  ...(rows.some((row) => row.case.binary === "test") ? [testBinary] : []),
];
for (const file of needed) {
  if (await exists(file)) continue;
  console.error(`${file} does not exist; REYN_BIN and REYN_TEST_BIN name other binaries`);
  exit(1);
}

for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129]] as const) {
  process.once(signal, () => void closeWorlds().finally(() => exit(code)));
}
const results = await runAll(rows, jobs, { binary, testBinary, keep: values.keep }, (result) => {
  if (!values.json && result.failures.length > 0) console.log(describeFailure(result));
});
const { passed, failed } = summarize(results);
// A file that could not be read counts as a failed case: it stands for one or more.
const broken = findings.length > 0 ? 1 : 0;
if (values.json) console.log(asJson(results, findings));
else console.log(`${passed} passed, ${failed + broken} failed`);
exit(failed + broken > 0 ? 1 : 0);
