import { pathToFileURL } from "node:url";
import { offerModule } from "../adapter/offer_module.ts";
import { DECISION_POINTS } from "../points/decisions.ts";
import type { DecisionPoint } from "../points/decision_shapes.ts";
import { callHook, handlesPoint } from "../points/lifecycle_hooks.ts";
import * as sdk from "../points/sdk/mod.ts";
import type { LocalTarget } from "./declaration.ts";
import type { Executor } from "./executor.ts";
import { failureText } from "./failure.ts";
import { pickExecutor } from "./pick_executor.ts";
import { type Resolved, resolveFile, resolvePackage } from "./resolve_module.ts";

export type Loaded =
  | { ok: true; executor: Executor; points: readonly DecisionPoint[] }
  | { ok: false; reason: string };

/** How long a file may take to be imported and its hook to be constructed. */
export const LOAD_LIMIT_MS = 30_000;

/** Finds the file of a local hook: a package is looked for from the folder of the configuration. */
export function resolveTarget(
  { kind, target }: Pick<LocalTarget, "kind" | "target">,
  folder: string,
): Resolved {
  return kind === "module" ? resolvePackage(target, folder) : resolveFile(target);
}

/** Imports a hook into this process and constructs it. Each real file is imported once, each hook constructed anew. */
export async function loadLocal(target: Omit<LocalTarget, "isolate">, folder: string): Promise<Loaded> {
  const resolved = resolveTarget(target, folder);
  if (!resolved.ok) return resolved;
  offerModule("reyn/hooks", sdk);
  let exports: Record<string, unknown>;
  try {
    // A real path and no query: both runtimes then know a file by one name.
    exports = await import(pathToFileURL(resolved.file).href) as Record<string, unknown>;
  } catch (error) {
    return { ok: false, reason: `${resolved.file} cannot be imported: ${failureText(error)}` };
  }
  const picked = await pickExecutor(exports, target);
  if (!picked.ok) return { ok: false, reason: `${resolved.file}: ${picked.reason}` };
  const { hook } = picked;
  const points = DECISION_POINTS.filter((point) => handlesPoint(hook, point));
  return { ok: true, points, executor: { ask: ({ point, context }) => callHook(hook, point, context) } };
}
