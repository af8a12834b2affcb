import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bunPath } from "../lib/bun_path.ts";
import { denoPath } from "../lib/deno_path.ts";
import { unitTestFiles } from "../lib/repo.ts";
import { type ProcessResult, runProcess } from "../lib/run_process.ts";
import { ALLOWED_SKIPS } from "./allowed_skips.ts";
import { missingFrom, readBunReport, readDenoReport, type TestResult } from "./junit.ts";
import type { Stage, StageResult } from "./schedule.ts";

/** What the dot reporter says of tests that did not fail. */
const DOTS = /^[.,]$\n/gm;

/** Longest time for one unit test under Bun. */
const TEST_TIMEOUT_MS = 30_000;

/** The unit tests under both runtimes, and the check that both ran the same ones. */
export function unitStages(): Stage[] {
  const results = new Map<string, TestResult[]>();
  const deno = async () => {
    const files = await unitTestFiles();
    return await withReport(async (report) => {
      const flags = [
        "--allow-all",
        "--no-check",
        "--cached-only",
        "--reporter=dot",
        `--junit-path=${report}`,
      ];
      const ended = await runProcess(await denoPath(), ["test", ...flags, ...files]);
      return judge("deno", ended, await readReport(report, readDenoReport), results);
    });
  };
  const bun = async () => {
    const files = (await unitTestFiles()).map((file) => `./${file}`);
    return await withReport(async (report) => {
      const flags = [
        `--timeout=${TEST_TIMEOUT_MS}`,
        "--only-failures",
        "--reporter=junit",
        `--reporter-outfile=${report}`,
      ];
      const ended = await runProcess(await bunPath(), ["test", ...flags, ...files]);
      return judge("bun", ended, await readReport(report, readBunReport), results);
    });
  };
  const same = (): Promise<StageResult> => {
    const [denos, buns] = [results.get("deno") ?? [], results.get("bun") ?? []];
    const lines = [
      ...missingFrom(denos, buns).map((name) => `only under Deno: ${name}`),
      ...missingFrom(buns, denos).map((name) => `only under Bun: ${name}`),
    ];
    const failed = lines.length > 0 || denos.length === 0 ? 1 : 0;
    return Promise.resolve({ passed: 1 - failed, failed, output: lines.join("\n") || "no tests ran" });
  };
  return [
    { name: "unit tests under Deno", needs: ["install", "compilers"], run: deno },
    { name: "unit tests under Bun", needs: ["install", "compilers"], run: bun },
    { name: "same tests under both", after: ["unit tests under Deno", "unit tests under Bun"], run: same },
  ];
}

async function withReport(run: (report: string) => Promise<StageResult>): Promise<StageResult> {
  const folder = await mkdtemp(join(tmpdir(), "reyn-ci-"));
  try {
    return await run(join(folder, "report.xml"));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function readReport(path: string, read: (xml: string) => TestResult[]): Promise<TestResult[]> {
  return await readFile(path, "utf8").then(read, () => []);
}

/** Counts what the report says; a run that failed without a failing test, or that tested nothing, counts as one. */
function judge(
  runtime: string,
  ended: ProcessResult,
  tests: TestResult[],
  results: Map<string, TestResult[]>,
): StageResult {
  results.set(runtime, tests);
  const of = (outcome: TestResult["outcome"]) => tests.filter((test) => test.outcome === outcome);
  const skipped = of("skipped");
  const refused = skipped.filter(({ name }) => !(name in ALLOWED_SKIPS));
  const failing = of("failed");
  const lines = [
    ...failing.map(({ name }) => `failed: ${name}`),
    ...refused.map(({ name }) => `skipped, and not in the list of allowed ones: ${name}`),
  ];
  if (tests.length === 0) lines.push("no tests ran");
  let failed = failing.length + refused.length;
  if (failed === 0 && (ended.code !== 0 || tests.length === 0)) {
    failed = 1;
    lines.push(`the run ended with exit ${ended.code}`);
  }
  const note = `${tests.length} tests${skipped.length > 0 ? `, ${skipped.length} skipped` : ""}`;
  return {
    passed: of("passed").length,
    failed,
    note,
    output: `${ended.output.replace(DOTS, "")}\n${lines.join("\n")}`,
  };
}
