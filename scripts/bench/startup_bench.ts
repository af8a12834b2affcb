import { spawn } from "node:child_process";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "../build/build.ts";
import type { BenchRow } from "../lib/bench_table.ts";
import { bunPath } from "../lib/bun_path.ts";
import { REPO } from "../lib/repo.ts";
import { runProcess } from "../lib/run_process.ts";

const RUNS = 21;

/** Whole processes of the built binary, beside an empty program that the same compiler built. */
export async function rows(): Promise<BenchRow[]> {
  await build();
  const folder = await mkdtemp(join(tmpdir(), "reyn-bench-"));
  try {
    const reyn = join(folder, "reyn");
    await cp(join(REPO, "dist", "reyn"), reyn);
    const empty = await emptyProgram(folder);
    await writeFile(join(folder, "reyn.yaml"), hundredHooks());
    const floorName = "empty binary";
    // Milliseconds on a machine where the empty binary takes 4.
    const goals: [string, string[], number][] = [
      ["startup: --version", ["--version"], 20],
      ["startup: check of a 100-hook file", ["check"], 110],
      ["startup: run to the first turn", ["run", "--json", "hello"], 60],
    ];
    const rows: BenchRow[] = [];
    for (const [name, args, ms] of goals) {
      const until = args[0] === "run" ? '"type":"turn_started"' : undefined;
      if (until !== undefined) await writeFile(join(folder, "reyn.yaml"), "model: { provider: echo }\n");
      const times: number[] = [];
      const floors: number[] = [];
      for (let run = 0; run < RUNS; run++) {
        times.push(await elapsed(reyn, args, folder, until));
        floors.push(await elapsed(empty, [], folder));
      }
      rows.push({
        name,
        unit: "ms",
        value: median(times),
        floor: median(floors),
        floorName,
        goal: { timesFloor: ms / 4 },
      });
    }
    return rows;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function emptyProgram(folder: string): Promise<string> {
  const source = join(folder, "empty.ts");
  const program = join(folder, "empty");
  await writeFile(source, "export {};\n");
  const { code, output } = await runProcess(
    await bunPath(),
    ["build", "--compile", "--minify", "--bytecode", "--format=esm", `--outfile=${program}`, source],
    { cwd: folder },
  );
  if (code !== 0) throw new Error(`the empty program was not built\n${output}`);
  return program;
}

/** Milliseconds until the process ends, or until it has written `until`. */
function elapsed(program: string, args: string[], cwd: string, until?: string): Promise<number> {
  const start = performance.now();
  const child = spawn(program, args, {
    cwd,
    env: { HOME: `${cwd}-home`, PATH: "/usr/bin:/bin" },
    stdio: ["ignore", "pipe", "ignore"],
  });
  return new Promise((resolve, reject) => {
    let seen = "";
    let at: number | undefined;
    child.stdout.on("data", (chunk: { toString(): string }) => {
      seen += chunk.toString();
      if (until !== undefined && seen.includes(until)) at ??= performance.now() - start;
    });
    child.on("error", reject);
    child.on("exit", (code) => {
      if (code !== 0) reject(new Error(`${program} ${args.join(" ")} exited ${code}`));
      else resolve(at ?? performance.now() - start);
    });
  });
}

function hundredHooks(): string {
  const hooks = Array.from(
    { length: 100 },
    (_, index) =>
      `  - name: hook-${index}\n    on: turn_end\n    matcher: { status: ok, agent_name: default }\n` +
      `    template_push:\n      message: "Turn {{ hook_driven_turns }} of {{ agent_name }} ended: step ${index}."\n` +
      `      wake: false\n      push_when: "{{ hook_driven_turns < 3 }}"\n`,
  );
  return `model: { provider: echo }\nhooks:\n${hooks.join("")}`;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}
