import { chmod, copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exit, getuid } from "node:process";
import { buildAttacker } from "../test/sandbox/attack/build_attacker.ts";
import type { SuiteSummary } from "./attacks/run_suite.ts";
import { bunPath } from "./lib/bun_path.ts";
import { denoPath } from "./lib/deno_path.ts";
import { REPO } from "./lib/repo.ts";
import { runProcess } from "./lib/run_process.ts";

/**
 * `deno run -A scripts/attacks.ts`: the whole attack suite, as root by Deno and as an ordinary account by Bun, each with its control. Ends
 * with `N passed, N failed`. Without root it runs as the account it has, and says so.
 */
const ORDINARY = "12345";
/** Of the attacks that are tried without a sandbox, at least this part has to fail there: else they show nothing. */
const DISCRIMINATING = 0.6;

const attacker = await buildAttacker();
const [bun, deno] = [await bunPath(), await denoPath()];
let passed = 0;
let failed = 0;

function report(name: string, output: string, code: number): void {
  const lines = output.trimEnd().split("\n");
  const summary = parseSummary(lines.pop() ?? "");
  if (!summary) {
    failed += 1;
    console.log(`${name}: the suite did not end (exit ${code})\n${output}`);
    return;
  }
  const { control } = summary;
  const discriminates = control.failed >= control.tried * DISCRIMINATING;
  passed += summary.passed + (discriminates ? 1 : 0);
  failed += summary.failed + (discriminates ? 0 : 1);
  for (const line of lines) console.log(`${name}: ${line}`);
  console.log(
    `${name}: ${summary.passed} passed, ${summary.failed} failed, ${summary.notRun} not run; ` +
      `without a sandbox ${control.failed} of ${control.tried} fail${
        discriminates ? "" : ", which is too few"
      }`,
  );
}

function parseSummary(line: string): SuiteSummary | undefined {
  try {
    return JSON.parse(line) as SuiteSummary;
  } catch {
    return undefined;
  }
}

const own = await runProcess(deno, [
  ...["run", "--allow-all", "--cached-only", "--no-check", "scripts/attacks/run_suite.ts"],
  ...[`--attacker=${attacker}`, `--deno=${deno}`, `--bun=${bun}`],
]);
report(getuid?.() === 0 ? "root" : "own account", own.output, own.code);
if (getuid?.() === 0) await asOrdinaryAccount();
else console.log("not run as root and as another account: that needs root");

console.log(`${passed} passed, ${failed} failed`);
exit(failed > 0 ? 1 : 0);

/** The repository may lie where other accounts cannot look, so it gets copies. */
async function asOrdinaryAccount(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "reyn-attacks-"));
  try {
    await chmod(folder, 0o755);
    const copy = join(folder, "bun");
    await copyFile(bun, copy);
    await chmod(copy, 0o755);
    const bundles: [string, string][] = [
      ["scripts/attacks/run_suite.ts", "run_suite.js"],
      ["test/sandbox/attack/killed_runtime.ts", "killed_runtime.ts"],
    ];
    for (const [entry, name] of bundles) {
      const built = await runProcess(bun, [
        "build",
        "--target=bun",
        `--outfile=${join(folder, name)}`,
        join(REPO, entry),
      ]);
      if (built.code !== 0) throw new Error(built.output);
      await chmod(join(folder, name), 0o644);
    }
    const { code, output } = await runProcess("setpriv", [
      ...[`--reuid=${ORDINARY}`, `--regid=${ORDINARY}`, "--clear-groups", copy, join(folder, "run_suite.js")],
      ...[`--attacker=${attacker}`, `--bun=${copy}`],
    ], { cwd: folder, env: { HOME: folder, TMPDIR: "/tmp" } });
    report(`uid ${ORDINARY}`, output, code);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
