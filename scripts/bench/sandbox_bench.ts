import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/clock/clock.ts";
import { FIXED_PATH } from "../../src/sandbox/environment.ts";
import { deniedPaths } from "../../src/sandbox/guarded_paths.ts";
import { FLOOR, type SandboxPolicy } from "../../src/sandbox/policy.ts";
import { openSandbox, type Sandbox } from "../../src/sandbox/sandbox.ts";
import { exists } from "../lib/repo.ts";
import type { BenchRow } from "../lib/bench_table.ts";

const RUNS = 60;
const BUBBLEWRAP = "/usr/bin/bwrap";
/** Entries of the home, and how much more than a raw spawn a run may take with it, in ms. */
const HOMES: [entries: number, most: number][] = [[200, 2.5], [3000, 15]];
const MOST_PROBE_MS = 15;

/** What a sandboxed program costs beside a bare one, by how much is in the home; bubblewrap's masks where it is installed. */
export async function rows(): Promise<BenchRow[]> {
  const root = mkdtempSync(join(realpathSync(tmpdir()), "reyn-sandbox-bench-"));
  const helper = join(root, "helper");
  const sandbox = openSandbox({ helperFolders: [helper] });
  try {
    const probe = await sandbox.probe();
    if (!probe.confirmed) throw new Error(`the sandbox is not confirmed: ${probe.reason}`);
    const found: BenchRow[] = [];
    const masks = await exists(BUBBLEWRAP);
    for (const [entries, most] of HOMES) {
      const policy = makeHome(join(root, `home-${entries}`), entries);
      const busy = join(root, `busy-home-${entries}`);
      const busyPolicy = makeHome(busy, entries);
      let changes = 0;
      const change = () => writeFileSync(join(busy, `change-${changes++}`), "");
      const [bare, confined, changed, masked] = await interleaved([
        () => bareRun(["/bin/true"]),
        () => confinedRun(sandbox, policy),
        // A new file each time: nothing that was kept from the run before can be used.
        () => (change(), confinedRun(sandbox, busyPolicy)),
        ...(masks ? [() => bareRun([BUBBLEWRAP, ...maskOptions(policy), "/bin/true"])] : []),
      ]);
      const name = `sandbox: /bin/true, home of ${entries} entries`;
      const beside = { unit: "ms", floor: bare ?? 0, floorName: "raw spawn" };
      const goal = { atMost: (bare ?? 0) + most };
      found.push({ name, value: confined ?? 0, ...beside, goal });
      found.push({ name: `${name}, changed before each run`, value: changed ?? 0, ...beside, goal });
      if (masked !== undefined) found.push({ name: `${name}, bubblewrap`, value: masked, ...beside });
    }
    const [probed, bare] = await interleaved([
      async () => {
        const fresh = openSandbox({ helperFolders: [helper] });
        await fresh.probe();
        fresh.close();
      },
      () => bareRun(["/bin/true"]),
    ], 20);
    found.push({
      name: "sandbox: self test",
      unit: "ms",
      value: probed ?? 0,
      floor: bare ?? 0,
      floorName: "raw spawn",
      goal: { atMost: MOST_PROBE_MS },
    });
    return found;
  } finally {
    sandbox.close();
    rmSync(root, { recursive: true, force: true });
  }
}

function makeHome(home: string, entries: number): SandboxPolicy {
  mkdirSync(join(home, ".ssh"), { recursive: true });
  for (let i = 0; i < entries; i += 1) {
    if (i % 4 === 0) mkdirSync(join(home, `folder-${i}`));
    else writeFileSync(join(home, `file-${i}`), "");
  }
  const controlDir = join(home, "app");
  mkdirSync(controlDir);
  return { controlDir, homes: [home], grants: FLOOR, denyRead: [], readOnly: [] };
}

/** bubblewrap can mask only what exists. */
function maskOptions(policy: SandboxPolicy): string[] {
  const present = deniedPaths(policy).filter((path) => path.endsWith(".ssh"));
  return [
    ...[
      "--unshare-all",
      "--die-with-parent",
      "--new-session",
      "--ro-bind",
      "/",
      "/",
      "--dev",
      "/dev",
      "--proc",
      "/proc",
    ],
    ...present.flatMap((path) => ["--tmpfs", path]),
  ];
}

function bareRun([file = "", ...args]: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { stdio: ["pipe", "pipe", "pipe"], env: { PATH: FIXED_PATH } });
    child.on("error", reject);
    child.stdin.on("error", () => {});
    child.stdin.end("{}\n");
    child.stdout.resume();
    child.stderr.resume();
    child.on("close", () => resolve());
  });
}

async function confinedRun(sandbox: Sandbox, policy: SandboxPolicy): Promise<void> {
  const run = await sandbox.run({
    argv: ["/bin/true"],
    cwd: policy.controlDir,
    env: { PATH: FIXED_PATH },
    stdin: "{}\n",
    policy,
    timeoutMs: 10_000,
    stdout: "ignore",
    clock: systemClock,
  });
  if (run.outcome !== "ok") throw new Error(`${run.outcome}: ${run.reason}`);
}

/** Median milliseconds of each, taking turns so that a busy moment hits all alike. */
async function interleaved(work: (() => Promise<void>)[], runs = RUNS): Promise<number[]> {
  const times = work.map((): number[] => []);
  for (let round = 0; round < runs + 3; round += 1) {
    for (const [i, run] of work.entries()) {
      const start = performance.now();
      await run();
      if (round >= 3) times[i]?.push(performance.now() - start);
    }
  }
  return times.map((list) => list.sort((a, b) => a - b)[list.length >> 1] ?? 0);
}
