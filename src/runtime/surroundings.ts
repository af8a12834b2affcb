import { isAbsolute, join, resolve } from "node:path";
import process from "node:process";
import { account } from "../adapter/account.ts";
import type { SandboxConfig } from "../sandbox/section.ts";

/** Where a run of reyn stands: whose it is, and where approvals are kept. */
export interface Surroundings {
  controlDir: string;
  /** Every folder that `~` stands for: $HOME and the account's own. */
  homes: readonly string[];
  account: { home: string; name: string };
  allowlistPath: string;
}

/** $HOME where it is absolute, else the account's own: a relative one would make project files the operator's. */
export function homeFolder(): string {
  const named = process.env["HOME"] ?? "";
  return isAbsolute(named) ? named : account().home;
}

export function surroundings(controlDir: string): Surroundings {
  const own = account();
  const home = homeFolder();
  const named = process.env["REYN_SHELL_HOOKS_ALLOWLIST"];
  return {
    controlDir,
    homes: [...new Set([home, own.home])],
    account: { home, name: own.name },
    allowlistPath: named ? resolve(named) : join(home, ".reyn", "shell-hooks-allowlist.json"),
  };
}

/** What stays out of every hook's reach besides the built-in list: what the operator names, and approvals kept elsewhere. */
export function deniedBesides(config: SandboxConfig, { allowlistPath }: Surroundings): string[] {
  return [...config.denyRead, ...["", ".lock", ".new"].map((ending) => allowlistPath + ending)];
}
