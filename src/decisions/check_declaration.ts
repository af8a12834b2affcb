import { type Finding, isError } from "../errors/finding.ts";
import { quote } from "../errors/quote.ts";
import { finding } from "../errors/reyn_error.ts";
import { DEFAULT_PLUGIN_LIMITS } from "../sandbox/wasm/limits.ts";
import { loadModule } from "../sandbox/wasm/load_module.ts";
import type { DeclaredHook } from "./declaration.ts";
import type { ConfigPlace } from "./find_config.ts";
import type { LoadDeps } from "./load_decisions.ts";
import { resolveTarget } from "./load_local.ts";
import { readDeclaration } from "./read_declaration.ts";
import { untrusted } from "./trust_claims.ts";

/**
 * Everything that keeps a declaration from being loaded, as far as it shows without running what it names: mistakes, missing
 * trust, and code that is not there. Code that is not trusted is not looked for.
 */
export function checkDeclaration(
  place: ConfigPlace,
  deps: Pick<LoadDeps, "home" | "judgeTrust">,
): readonly Finding[] {
  const read = readDeclaration(place.path, { ...place, home: deps.home });
  if (!read.ok) return read.findings;
  const findings = untrusted(place, read.declaration, deps);
  if (findings.some(isError)) return findings;
  return read.declaration.hooks.filter(({ enabled }) => enabled).flatMap((hook) => {
    const problem = codeProblem(hook, place.folder);
    if (problem === undefined) return [];
    const subject = `hooks[${hook.index}] ${quote(hook.name)}`;
    return [finding("E_EXECUTOR_LOAD", problem, { subject, place: hook.place })];
  });
}

function codeProblem({ executor }: DeclaredHook, folder: string): string | undefined {
  switch (executor.kind) {
    case "url":
      return undefined;
    case "wasm": {
      const { target, export: exportName } = executor;
      const { memoryBytes } = DEFAULT_PLUGIN_LIMITS;
      const loaded = loadModule(target, { controlDir: folder, exportName, memoryBytes });
      return loaded.ok ? undefined : `${target}: ${loaded.reason}`;
    }
    default: {
      const found = resolveTarget(executor, folder);
      return found.ok ? undefined : found.reason;
    }
  }
}
