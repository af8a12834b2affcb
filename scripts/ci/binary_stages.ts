import { denoPath } from "../lib/deno_path.ts";
import { runProcess } from "../lib/run_process.ts";
import { denoRun } from "./check_stages.ts";
import type { Stage, StageResult } from "./schedule.ts";

/** Stages that build the binaries and run the cases against them. */
export function binaryStages(): Stage[] {
  return [
    { name: "compile", needs: ["install"], run: () => denoRun("scripts/compile.ts", "--with=bun") },
    // Some cases compile a plugin.
    {
      name: "cases",
      needs: ["compile", "compilers"],
      alone: true,
      run: () => counted("scripts/cases/main.ts", "cases"),
    },
    {
      name: "crash and fault suites",
      needs: ["compile"],
      after: ["cases"],
      alone: true,
      run: () => counted("scripts/chaos/short.ts", "checks"),
    },
    // It writes a bundle beside the sources while it runs, which the checks of all files must not meet.
    {
      name: "deno compile gate",
      needs: ["install"],
      after: ["types", "lint", "format"],
      run: () => denoRun("scripts/deno_compile_gate.ts"),
    },
  ];
}

/** A script that ends with `N passed, N failed`. */
async function counted(script: string, what: string): Promise<StageResult> {
  const args = ["run", "--allow-all", "--cached-only", script];
  const { code, output } = await runProcess(await denoPath(), args);
  const counts = /^(\d+) passed, (\d+) failed$/m.exec(output);
  const passed = Number(counts?.[1] ?? 0);
  const failed = Number(counts?.[2] ?? 0);
  if (passed + failed === 0 || (code !== 0 && failed === 0)) return { passed, failed: failed + 1, output };
  return { passed, failed, output, note: `${passed + failed} ${what}` };
}
