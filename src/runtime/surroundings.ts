import { homedir, userInfo } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import process from "node:process";
import type { SandboxConfig } from "../sandbox/section.ts";

/** Where a run of reyn stands: whose it is, and where approvals are kept. */
export interface Surroundings {
  controlDir: string;
  /** Every folder that `~` stands for: $HOME and the account's own. */
  homes: readonly string[];
  account: { home: string; name: string };
  allowlistPath: string;
}

export function surroundings(controlDir: string): Surroundings {
  const { homedir: accountHome, username } = userInfo();
  const home = process.env["HOME"] || homedir();
  const named = process.env["REYN_SHELL_HOOKS_ALLOWLIST"];
  return {
    controlDir,
    homes: [...new Set([home, accountHome])].filter(isAbsolute),
    account: { home, name: username },
    allowlistPath: named ? resolve(named) : join(home, ".reyn", "shell-hooks-allowlist.json"),
  };
}

/** What stays out of every hook's reach besides the built-in list: what the operator names, and approvals kept elsewhere. */
export function deniedBesides(config: SandboxConfig, { allowlistPath }: Surroundings): string[] {
  return [...config.denyRead, ...["", ".lock", ".new"].map((ending) => allowlistPath + ending)];
}
