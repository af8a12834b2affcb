import process from "node:process";
import { deniedPaths, readOnlyPaths } from "../guarded_paths.ts";
import { expandPath } from "../paths.ts";
import type { SandboxPolicy } from "../policy.ts";

export interface HelperOptions {
  argv: readonly string[];
  policy: SandboxPolicy;
  /** Names of the variables that the program gets; the runtime may add some of its own to the helper's. */
  variables: readonly string[];
  processes: number;
  /** After this the helper ends the run by itself; 0 never. Real time. */
  backstopMs: number;
  /** Kept from being written, whatever is granted: the helper's own folder. */
  helperFolder: string;
  /** Options by which the helper finds the keeper. */
  keeper: readonly string[];
  assumeLandlockAbi?: number | undefined;
}

/** Where the helper reports. The confined program has no such descriptor. */
export const REPORT_FD = 3;

/** The helper's command line. Nothing secret is in it: everyone on the machine can read it. */
export function helperArguments(options: HelperOptions): string[] {
  const { policy } = options;
  const { grants } = policy;
  const writable = grants.writePaths.flatMap((text) => expandPath(text, policy));
  return [
    "--report-fd",
    String(REPORT_FD),
    "--runtime-pid",
    String(process.pid),
    ...(options.backstopMs > 0 ? ["--timeout-ms", String(Math.ceil(options.backstopMs))] : []),
    ...(grants.subprocess ? ["--subprocess", "--processes", String(options.processes)] : []),
    ...(options.assumeLandlockAbi === undefined ? [] : ["--assume-abi", String(options.assumeLandlockAbi)]),
    ...(grants.network ? ["--network"] : []),
    ...options.keeper,
    ...each("--env", options.variables),
    ...each("--deny", deniedPaths(policy)),
    ...each("--read-only", [...readOnlyPaths(policy), options.helperFolder]),
    ...each("--write", [...new Set(writable)]),
    "--",
    ...options.argv,
  ];
}

function each(option: string, values: readonly string[]): string[] {
  return values.flatMap((value) => [option, value]);
}
