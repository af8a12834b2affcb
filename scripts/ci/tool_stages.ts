import { access } from "node:fs/promises";
import { getuid } from "node:process";
import { runProcess } from "../lib/run_process.ts";
import { denoRun } from "./check_stages.ts";
import type { Stage, StageResult } from "./schedule.ts";

/** What the native helper, the attacker and the plugins in C are built with, by the Debian package that brings it. */
const COMPILERS = [
  { program: "/usr/bin/x86_64-linux-gnu-gcc-12", package: "gcc-12" },
  { program: "/usr/bin/aarch64-linux-gnu-gcc-12", package: "gcc-12-aarch64-linux-gnu" },
  { program: "/usr/bin/clang-14", package: "clang" },
  { program: "/usr/bin/wasm-ld-14", package: "lld" },
] as const;

/** Stages that need more than the npm registry: the compilers, and the check of what was built with them. */
export function toolStages(): Stage[] {
  return [
    { name: "compilers", run: compilers },
    { name: "helper", needs: ["install", "compilers"], run: () => denoRun("scripts/helper.ts", "--check") },
    { name: "plugins", needs: ["install", "compilers"], run: () => denoRun("scripts/plugins.ts", "--check") },
  ];
}

/** Installs what is missing where that can be done; says what is missing where it cannot. */
async function compilers(): Promise<StageResult> {
  const missing: string[] = [];
  for (const { program, package: name } of COMPILERS) {
    if (!(await access(program).then(() => true, () => false))) missing.push(name);
  }
  if (missing.length === 0) return { passed: 1, failed: 0, output: "" };
  if (getuid?.() !== 0) {
    const output = `NO COMPILER: install Debian 12's ${missing.join(" and ")} (as root: apt-get install ${
      missing.join(" ")
    })`;
    return { passed: 0, failed: 1, output };
  }
  const options = { env: { DEBIAN_FRONTEND: "noninteractive" }, timeoutMs: 10 * 60_000 };
  const update = await runProcess("/usr/bin/apt-get", ["update", "-q"], options);
  const install = await runProcess("/usr/bin/apt-get", ["install", "-q", "-y", ...missing], options);
  const output = `${update.output}\n${install.output}`;
  return install.code === 0
    ? { passed: 1, failed: 0, output: "", note: missing.join(", ") }
    : { passed: 0, failed: 1, output };
}
