import { denoPath } from "../lib/deno_path.ts";
import { runProcess } from "../lib/run_process.ts";
import { denoRun } from "./check_stages.ts";
import type { Stage, StageResult } from "./schedule.ts";

/** Stages that build the binaries and run the cases against them. */
export function binaryStages(): Stage[] {
  return [
    { name: "compile", needs: ["install"], run: () => denoRun("scripts/compile.ts", "--with=bun") },
    { name: "cases", needs: ["compile"], alone: true, run: cases },
    // It writes a bundle beside the sources while it runs, which the checks of all files must not meet.
    {
      name: "deno compile gate",
      needs: ["install"],
      after: ["types", "lint", "format"],
      run: () => denoRun("scripts/deno_compile_gate.ts"),
    },
  ];
}

async function cases(): Promise<StageResult> {
  const script = ["run", "--allow-all", "--cached-only", "scripts/cases/main.ts"];
  const { code, output } = await runProcess(await denoPath(), script);
  const counts = /^(\d+) passed, (\d+) failed$/m.exec(output);
  const passed = Number(counts?.[1] ?? 0);
  const failed = Number(counts?.[2] ?? 0);
  if (passed + failed === 0 || (code !== 0 && failed === 0)) return { passed, failed: failed + 1, output };
  return { passed, failed, output, note: `${passed + failed} cases` };
}
