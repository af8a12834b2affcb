import { isMapping, valueAt } from "./path.ts";
import type { Path } from "./section.ts";

/**
 * Lays values over one another, the last on top: maps deeply, everything else replaces, but for the lists under keys of
 * `adding`, which grow.
 */
export function mergeValues(values: readonly unknown[], adding: readonly string[] = []): unknown {
  return values.reduce((under, over) => over === undefined ? under : merge(under, over, adding), undefined);
}

function merge(under: unknown, over: unknown, adding: readonly string[], at?: string): unknown {
  if (at !== undefined && adding.includes(at) && Array.isArray(under) && Array.isArray(over)) {
    return [...under, ...over];
  }
  if (!isMapping(under) || !isMapping(over)) return over;
  const result: Record<string, unknown> = { ...under };
  for (const [key, value] of Object.entries(over)) {
    result[key] = Object.hasOwn(under, key) ? merge(under[key], value, adding, key) : value;
  }
  return result;
}

/**
 * Which of the merged sources wrote what stands at a path of the result; for a path that is not there, which wrote the
 * topmost part of what is nearest above it. Sources are in the order in which they were merged.
 */
export function ownerOf<Source extends { value: unknown }>(
  sources: readonly Source[],
  path: Path,
): Source | undefined {
  let candidates = sources;
  for (let length = 0; length <= path.length; length++) {
    const prefix = path.slice(0, length);
    const having = candidates.filter((source) => valueAt(source.value, prefix) !== undefined);
    if (having.length === 0) break;
    // What is no map hides all that lies under it.
    const hiding = having.findLastIndex((source) => !isMapping(valueAt(source.value, prefix)));
    candidates = hiding === having.length - 1 ? having.slice(hiding) : having.slice(hiding + 1);
  }
  return candidates.at(-1);
}
