import { lstatSync } from "node:fs";
import type { Finding } from "../errors/finding.ts";
import { quote } from "../errors/quote.ts";
import { finding } from "../errors/reyn_error.ts";
import { guardedPaths, type Standing } from "./guarded_paths.ts";
import { canonicalPath, expandPath, isUnder } from "./paths.ts";
import type { SandboxPolicy } from "./policy.ts";

/** Written to, these reach the whole machine. Shared memory is the one harmless part. */
const MACHINE_FOLDERS = ["/proc", "/sys", "/dev"];
const SHARED_MEMORY = "/dev/shm";
/** Guarded paths that one message names. */
const MOST_NAMED = 3;

/**
 * What is wrong, or odd, with a policy's `write_paths`; `subject` is `write_paths[i]`. Errors: a grant at or below a path that is
 * never granted. Warnings: a grant above one (it is narrowed to what is left), and one whose target is missing.
 */
export function checkGrants(policy: SandboxPolicy): Finding[] {
  if (policy.grants.writePaths.length === 0) return [];
  const standing = guardedPaths(policy);
  return policy.grants.writePaths.flatMap((text, index) => {
    const subject = `write_paths[${index}]`;
    if (text.trim() === "" || text.includes("\0")) {
      return [finding("E_GRANT_DENIED", "it is not a path", { subject })];
    }
    return expandPath(text, policy).flatMap((file) => checkOne(text, file, standing(file)))
      .map((found) => ({ ...found, subject }));
  });
}

function checkOne(text: string, file: string, standing: Standing): Finding[] {
  const named = describe(text, file);
  const canonical = canonicalPath(file);
  const machine = MACHINE_FOLDERS.find((folder) => isUnder(canonical, folder));
  if (machine !== undefined && !isUnder(canonical, SHARED_MEMORY)) {
    return [finding("E_GRANT_DENIED", `${named} lies in ${machine}, where no hook may write`)];
  }
  if (standing.at === "inside") {
    const what = standing.guard === "denied" ? "read or write" : "write";
    return [
      finding("E_GRANT_DENIED", `${named} lies in ${quote(standing.guarded)}, which no hook may ${what}`, {
        fix: "grant a folder elsewhere",
      }),
    ];
  }
  if (!exists(file)) {
    return [
      finding("W_GRANT_MISSING", `${named} does not exist, so the hook will not start`, {
        fix: "make it before the hook runs",
      }),
    ];
  }
  if (standing.at === "above") {
    const names = standing.guarded.slice(0, MOST_NAMED).map((guarded) => quote(guarded)).join(", ");
    const more = standing.guarded.length > MOST_NAMED
      ? ` and ${standing.guarded.length - MOST_NAMED} more`
      : "";
    return [
      finding(
        "W_GRANT_NARROWED",
        `${named} holds ${names}${more}, so it is granted without them, and nothing new can be made in the folders above them`,
        { fix: "grant a folder of its own" },
      ),
    ];
  }
  return [];
}

function describe(text: string, file: string): string {
  return text === file ? quote(text) : `${quote(text)} (${quote(file)})`;
}

function exists(file: string): boolean {
  try {
    lstatSync(file);
    return true;
  } catch {
    return false;
  }
}
