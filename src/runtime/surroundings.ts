import { isAbsolute, join, resolve } from "node:path";
import process from "node:process";
import { account } from "../adapter/account.ts";
import { isInside } from "../config/authority.ts";
import type { Finding } from "../errors/finding.ts";
import { quote } from "../errors/quote.ts";
import { finding } from "../errors/reyn_error.ts";
import type { SandboxConfig } from "../sandbox/section.ts";

/** Where a run of reyn stands: whose it is, and where approvals are kept. */
export interface Surroundings {
  controlDir: string;
  /** Every folder that `~` stands for: $HOME and the account's own. */
  homes: readonly string[];
  account: { home: string; name: string };
  allowlistPath: string;
  /** Why the allowlist counts for nothing, whatever is in it. */
  allowlistProblem?: string;
}

/**
 * $HOME, unless it would make files of the project the operator's: a relative one, and one inside the control folder that
 * is not the account's own. Then the account's own.
 */
export function homeFolder(controlDir: string): string {
  const named = process.env["HOME"] ?? "";
  if (!isAbsolute(named)) return account().home;
  return isInside(named, controlDir) ? account().home : named;
}

/** Says so where an absolute $HOME does not count. */
export function ignoredHome(controlDir: string): Finding | undefined {
  const named = process.env["HOME"] ?? "";
  const home = homeFolder(controlDir);
  if (!isAbsolute(named) || resolve(named) === resolve(home)) return undefined;
  const message = `HOME is ${quote(named, 200)}, which is the project's; ~ is ${quote(home, 200)}`;
  return finding("W_HOME_IGNORED", message, { fix: "keep your own files outside of the control folder" });
}

const IN_THE_PROJECT = "it lies in the control folder, whose files anybody may have made";

export function surroundings(controlDir: string): Surroundings {
  const own = account();
  const home = homeFolder(controlDir);
  const named = process.env["REYN_SHELL_HOOKS_ALLOWLIST"];
  const allowlistPath = named ? resolve(named) : join(home, ".reyn", "shell-hooks-allowlist.json");
  // In the operator's home it is the operator's, also where that home is the control folder.
  const isProjects = named && isInside(allowlistPath, controlDir) &&
    !isInside(allowlistPath, join(home, ".reyn"));
  return {
    controlDir,
    homes: [...new Set([home, own.home])],
    account: { home, name: own.name },
    allowlistPath,
    ...(isProjects ? { allowlistProblem: IN_THE_PROJECT } : {}),
  };
}

/** Where the secret is that stamps questions of consent. */
export function questionKeyFile(controlDir: string): string {
  return join(homeFolder(controlDir), ".reyn", "question-key");
}

/** What stays out of every hook's reach besides the built-in list: what the operator names, and approvals kept elsewhere. */
export function deniedBesides(config: SandboxConfig, { allowlistPath }: Surroundings): string[] {
  return [...config.denyRead, ...["", ".lock", ".new"].map((ending) => allowlistPath + ending)];
}
