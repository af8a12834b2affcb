import { readdirSync } from "node:fs";
import path from "node:path";
import { canonicalPath, expandPath, isUnder } from "./paths.ts";
import type { SandboxPolicy } from "./policy.ts";

/** What no hook may read or write, whatever it is granted, in every home. The manual lists it from here. */
export const SENSITIVE_IN_HOME = [
  ".ssh",
  ".aws",
  ".gnupg",
  ".config/gcloud",
  ".config/gh",
  ".kube",
  ".docker/config.json",
  ".netrc",
  ".npmrc",
  ".git-credentials",
  ".reyn/shell-hooks-allowlist.json",
  ".reyn/trust.json",
  ".reyn/question-key",
] as const;

export const SENSITIVE_IN_SYSTEM = ["/etc/shadow"] as const;

/** What every hook may read and none may write, in the control folder; besides every `reyn*.yaml` there. */
export const READ_ONLY_IN_CONTROL_DIR = [".reyn", "reyn.yaml", "reyn.local.yaml", "cli-config.yaml"] as const;

/** The agent that always exists: its state is guarded even before there is any. */
const DEFAULT_AGENT = "default";

type GuardedPolicy = Pick<SandboxPolicy, "controlDir" | "homes" | "denyRead" | "readOnly">;

/** Absolute paths that are neither readable nor writable. Looks at the agents there are, so it is asked for each run. */
export function deniedPaths(policy: GuardedPolicy): string[] {
  const { controlDir, homes } = policy;
  const agents = path.join(controlDir, ".reyn/agents");
  return unique([
    ...homes.flatMap((home) => SENSITIVE_IN_HOME.map((name) => path.join(home, name))),
    ...SENSITIVE_IN_SYSTEM,
    path.join(controlDir, ".reyn/state"),
    ...[DEFAULT_AGENT, ...namesIn(agents)].map((agent) => path.join(agents, agent, "state")),
    ...policy.denyRead.flatMap((text) => expandPath(text, policy)),
  ]);
}

/** Absolute paths that are readable and never writable. */
export function readOnlyPaths(policy: GuardedPolicy): string[] {
  const { controlDir, homes } = policy;
  const settings = namesIn(controlDir).filter((name) => /^reyn.*\.yaml$/.test(name));
  return unique([
    ...homes.map((home) => path.join(home, ".reyn")),
    ...[...READ_ONLY_IN_CONTROL_DIR, ...settings].map((name) => path.join(controlDir, name)),
    ...policy.readOnly.flatMap((text) => expandPath(text, policy)),
  ]);
}

export type Guard = "denied" | "read_only";

/** How one absolute path stands to the guarded ones; `guarded` names those that matter. */
export type Standing =
  | { at: "free" }
  | { at: "inside"; guard: Guard; guarded: string }
  | { at: "above"; guarded: string[] };

/** Tells how paths stand to a policy's guarded ones, by what they name as well as by how they are written. */
export function guardedPaths(policy: GuardedPolicy): (absolute: string) => Standing {
  const both = (list: string[]) => list.flatMap((file) => unique([file, canonicalPath(file)]));
  const denied = both(deniedPaths(policy));
  const readOnly = both(readOnlyPaths(policy));
  return (absolute) => {
    const forms = unique([absolute, canonicalPath(absolute)]);
    for (const [guard, list] of [["denied", denied], ["read_only", readOnly]] as const) {
      const guarded = list.find((file) => forms.some((form) => isUnder(form, file)));
      if (guarded !== undefined) return { at: "inside", guard, guarded };
    }
    const below = [...denied, ...readOnly].filter((file) => forms.some((form) => isUnder(file, form)));
    return below.length > 0 ? { at: "above", guarded: unique(below) } : { at: "free" };
  };
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function unique(list: readonly string[]): string[] {
  return [...new Set(list)];
}
