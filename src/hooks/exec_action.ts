import type { SectionContext } from "../config/section.ts";
import { parseAllowedHost } from "../egress/allow.ts";
import type { Grants } from "../sandbox/policy.ts";
import { DEFAULT_EXPORT } from "../sandbox/wasm/abi.ts";
import { DEFAULT_PLUGIN_LIMITS } from "../sandbox/wasm/limits.ts";
import { pluginArgv } from "./plugin_argv.ts";
import type { HookInput } from "./schema.ts";

/** Longest run of a command, unless the hook says otherwise. */
const DEFAULT_TIMEOUT_MS = 60_000;

/** A command or a plugin that a hook runs, as its entry declares it. */
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
  /** Null for a program. */
  plugin: PluginAction | null;
}

/** What else the entry of a plugin declares. */
export interface PluginAction {
  /** The module, as written. */
  file: string;
  export: string;
  /** `true`: every public host; a list: these. */
  network: boolean | readonly string[];
  readPaths: readonly string[];
  memoryBytes: number;
  config: Readonly<Record<string, string>>;
}

/** Makes an exec entry ready; undefined when it was reported. What the disk says is asked later, for it may change. */
export function compileExec(
  scheme: "exec" | "exec_capture",
  input: HookInput,
  context: SectionContext,
): ExecAction | undefined {
  const argv = input[scheme] ?? [];
  const module = pluginArgv(argv[0]);
  if (module && Array.isArray(input.network) && !checkHosts(input.network, context)) return undefined;
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
    plugin: module
      ? {
        file: module.file,
        export: module.export ?? DEFAULT_EXPORT,
        network: input.network ?? false,
        readPaths: input.read_paths ?? [],
        memoryBytes: input.memory ?? DEFAULT_PLUGIN_LIMITS.memoryBytes,
        config: input.config ?? {},
      }
      : null,
  };
}

function checkHosts(hosts: readonly string[], context: SectionContext): boolean {
  let good = true;
  hosts.forEach((text, i) => {
    const parsed = parseAllowedHost(text);
    if (parsed.ok) return;
    good = false;
    context.report(["network", i], "E_GRANT_NETWORK", parsed.problem);
  });
  return good;
}
