import { chmod, copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { argv, env, exit, getuid } from "node:process";
import { parseArgs } from "node:util";
import { buildAttacker } from "../test/sandbox/attack/build_attacker.ts";
import { readReport } from "./attacks/report.ts";
import { bunPath } from "./lib/bun_path.ts";
import { denoPath } from "./lib/deno_path.ts";
import { exists, REPO } from "./lib/repo.ts";
import { runProcess } from "./lib/run_process.ts";

/**
 * `deno run -A scripts/attacks.ts`: the whole attack suite, as root by Deno and as an ordinary account by Bun, each with its control. Ends
 * with `N passed, N failed`. Without root it runs as the account it has, and says so.
 *
 * `--through=reyn`: the attacks as hooks of the built `dist/reyn` (or `REYN_BIN`), then commands that misbehave under load.
 */
const ORDINARY = "12345";

const { values } = parseArgs({ args: argv.slice(2), options: { through: { type: "string" } } });
if (values.through !== undefined && values.through !== "reyn") {
  console.error(`--through=${values.through}: reyn`);
  exit(2);
}
const reyn = values.through === undefined ? undefined : env["REYN_BIN"] ?? join(REPO, "dist", "reyn");
if (reyn !== undefined && !await exists(reyn)) {
  console.error(`${reyn} is missing: build it with \`deno task compile\``);
  exit(2);
}
const suites = reyn === undefined
  ? ["scripts/attacks/run_suite.ts"]
  : ["scripts/attacks/run_through_reyn.ts", "scripts/attacks/load.ts"];

const attacker = await buildAttacker();
const [bun, deno] = [await bunPath(), await denoPath()];
let passed = 0;
let failed = 0;

function report(name: string, output: string, code: number): void {
  const { lines, ...counts } = readReport(output, code);
  for (const line of lines) console.log(`${name}: ${line}`);
  passed += counts.passed;
  failed += counts.failed;
}

/** A build that happens meanwhile must not look like a fault; and other accounts may not look where the repository lies. */
const folder = await mkdtemp(join(tmpdir(), "reyn-attacks-"));
try {
  await chmod(folder, 0o755);
  const pinned = reyn === undefined ? undefined : await program(reyn);
  const tested = pinned === undefined ? [] : [`--reyn=${pinned}`];
  for (const suite of suites) {
    const own = await runProcess(deno, [
      ...["run", "--allow-all", "--cached-only", "--no-check", suite],
      ...[`--attacker=${attacker}`, `--deno=${deno}`, `--bun=${bun}`, ...tested],
    ]);
    report(getuid?.() === 0 ? "root" : "own account", own.output, own.code);
  }
  if (getuid?.() === 0) await asOrdinaryAccount(tested);
  else console.log("not run as root and as another account: that needs root");
} finally {
  await rm(folder, { recursive: true, force: true });
}

console.log(`${passed} passed, ${failed} failed`);
exit(failed > 0 ? 1 : 0);

async function asOrdinaryAccount(tested: readonly string[]): Promise<void> {
  const [ownBun, ownDeno] = [await program(bun), await program(deno)];
  await bundle("test/sandbox/attack/killed_runtime.ts", "killed_runtime.ts");
  for (const suite of suites) {
    const script = await bundle(suite, basename(suite, ".ts") + ".js");
    const { code, output } = await runProcess("setpriv", [
      ...[`--reuid=${ORDINARY}`, `--regid=${ORDINARY}`, "--clear-groups", ownBun, script],
      ...[`--attacker=${attacker}`, `--bun=${ownBun}`, `--deno=${ownDeno}`, ...tested],
    ], { cwd: folder, env: { HOME: folder, TMPDIR: "/tmp" } });
    report(`uid ${ORDINARY}`, output, code);
  }
}

/** A copy that every account may run. */
async function program(file: string): Promise<string> {
  const copy = join(folder, basename(file));
  await copyFile(file, copy);
  await chmod(copy, 0o755);
  return copy;
}

async function bundle(entry: string, name: string): Promise<string> {
  const file = join(folder, name);
  const built = await runProcess(bun, ["build", "--target=bun", `--outfile=${file}`, join(REPO, entry)]);
  if (built.code !== 0) throw new Error(built.output);
  await chmod(file, 0o644);
  return file;
}
