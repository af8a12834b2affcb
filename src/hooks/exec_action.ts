import type { SectionContext } from "../config/section.ts";
import type { Grants } from "../sandbox/policy.ts";
import type { HookInput } from "./schema.ts";

/** Longest run of a command, unless the hook says otherwise. */
const DEFAULT_TIMEOUT_MS = 60_000;

/** A command that a hook runs, as its entry declares it. */
export interface ExecAction {
  scheme: "exec" | "exec_capture";
  /** As written; `argv[0]` is resolved when it runs. */
  argv: readonly string[];
  grants: Grants;
  /** Axes on which the entry says something, be it the floor. */
  declared: { subprocess: boolean; network: boolean; writePaths: boolean };
  timeoutMs: number;
  /** Names of the variables that it gets from reyn's own environment. */
  envNames: readonly string[];
  consentFiles: readonly string[];
}

/** Makes an exec entry ready; undefined when it was reported. What the disk says is asked later, for it may change. */
export function compileExec(
  scheme: "exec" | "exec_capture",
  input: HookInput,
  context: SectionContext,
): ExecAction | undefined {
  const argv = input[scheme] ?? [];
  if (/\.wasm(#[A-Za-z0-9_]+)?$/.test(argv[0] ?? "")) {
    context.report([scheme, 0], "E_HOOK_NOT_YET", "plugins do not run in this version of reyn yet");
    return undefined;
  }
  return {
    scheme,
    argv,
    grants: {
      subprocess: input.subprocess ?? false,
      network: input.network === true,
      writePaths: input.write_paths ?? [],
    },
    declared: {
      subprocess: input.subprocess !== undefined,
      network: input.network !== undefined,
      writePaths: input.write_paths !== undefined,
    },
    timeoutMs: input.timeout ?? DEFAULT_TIMEOUT_MS,
    envNames: input.env ?? [],
    consentFiles: input.consent_files ?? [],
  };
}
