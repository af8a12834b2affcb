import { lstatSync } from "node:fs";
import path from "node:path";
import { errorCode } from "../../adapter/executable.ts";
import { deniedPaths, guardedPaths, readOnlyPaths } from "../guarded_paths.ts";
import { canonicalPath, expandPath, isUnder } from "../paths.ts";
import type { SandboxPolicy } from "../policy.ts";
import { type Confinement, seatbeltProfile } from "./profile.ts";
import { whyUnspeakable } from "./spellings.ts";
import { verifyProfile } from "./verify.ts";

/** Where macOS keeps what the common list names by its place elsewhere: passwords and keys. In every home, and in the system. */
export const MACOS_SENSITIVE_IN_HOME = ["Library/Keychains"] as const;
export const MACOS_SENSITIVE_IN_SYSTEM = ["/etc/master.passwd", "/var/db/dslocal"] as const;

export type ConfineResult =
  | { ok: true; profile: string }
  | { ok: false; outcome: "launch_failed" | "sandbox_unconfirmed"; reason: string };

/** The system takes no more in one argument list, and the program has arguments of its own. */
const LARGEST_PROFILE = 512 * 1024;
/** Verified profiles that are remembered: a hook has the same one run after run. */
const MOST_REMEMBERED = 64;
const verified = new Map<string, string[]>();

/** The profile of one run, looked over by the model before it is used. Looks at the disk. */
export function confine(policy: SandboxPolicy): ConfineResult {
  const denied = bothForms([...deniedPaths(policy), ...deniedOnMacos(policy)]);
  const readOnly = bothForms(readOnlyPaths(policy));
  const writable: string[] = [];
  for (const text of policy.grants.writePaths) {
    for (const file of expandPath(text, policy)) {
      const reason = whyNotGranted(file, policy);
      if (reason !== undefined) {
        return { ok: false, outcome: "launch_failed", reason: `write_paths: ${file} ${reason}` };
      }
      writable.push(...bothForms([file]));
    }
  }
  for (const file of [...denied, ...readOnly, ...writable]) {
    const reason = whyUnspeakable(file);
    if (reason !== undefined) {
      return refused(`${JSON.stringify(file)} cannot stand in a profile: ${reason}`);
    }
  }
  const { subprocess, network } = policy.grants;
  const confinement = { subprocess, network, writable, denied, readOnly };
  const profile = seatbeltProfile(confinement);
  if (profile.length > LARGEST_PROFILE) return refused("there are too many guarded paths for a profile");
  const problems = verify(profile, confinement);
  if (problems.length > 0) return refused(`the profile does not say what it should: ${problems.join("; ")}`);
  return { ok: true, profile };
}

function refused(reason: string): ConfineResult {
  return { ok: false, outcome: "sandbox_unconfirmed", reason };
}

function deniedOnMacos({ homes }: SandboxPolicy): string[] {
  return [
    ...homes.flatMap((home) => MACOS_SENSITIVE_IN_HOME.map((name) => path.join(home, name))),
    ...MACOS_SENSITIVE_IN_SYSTEM,
  ];
}

function whyNotGranted(file: string, policy: SandboxPolicy): string | undefined {
  try {
    lstatSync(file);
  } catch (error) {
    return `cannot be granted (${errorCode(error)})`;
  }
  const canonical = canonicalPath(file);
  const standing = guardedPaths(policy)(file);
  const isSensitive = deniedOnMacos(policy).some((place) =>
    isUnder(file, place) || isUnder(canonical, canonicalPath(place))
  );
  if (isSensitive || (standing.at === "inside" && standing.guard === "denied")) {
    return "lies where no hook may read or write";
  }
  if (standing.at === "inside" || isUnder(canonical, "/dev")) return "lies where no hook may write";
  return undefined;
}

function bothForms(files: readonly string[]): string[] {
  return [...new Set(files.flatMap((file) => [file, canonicalPath(file)]))];
}

function verify(profile: string, confinement: Confinement): string[] {
  const known = verified.get(profile);
  if (known) return known;
  const problems = verifyProfile(profile, confinement);
  if (verified.size >= MOST_REMEMBERED) verified.clear();
  verified.set(profile, problems);
  return problems;
}
