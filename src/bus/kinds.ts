import { namespacedName, parseTarget } from "../points/reactions.ts";

/**
 * The one spelling of an event kind that the bus carries. Builtin points, bare or namespaced, in any case, become
 * `builtin:<family>:<point>`; `composed:<name>` keeps its case; `llm:self:<name>` names the own session, and an
 * `llm:` kind of the agent `default` leaves the agent out (`llm:main:<name>`); every other kind is itself, trimmed.
 *
 * @param session `<agent>/<sid>` of the session whose bus it is
 */
export function canonicalKind(kind: string, session: string): string {
  const target = parseTarget(kind);
  if (target) {
    return target.kind === "builtin" ? namespacedName(target.point) : `composed:${target.name}`;
  }
  const trimmed = kind.trim();
  if (!trimmed.startsWith("llm:")) return trimmed;
  const end = trimmed.lastIndexOf(":");
  if (end < 4) return trimmed;
  const named = trimmed.slice(4, end);
  const owner = named === "self" ? session : named;
  return `llm:${owner.startsWith("default/") ? owner.slice("default/".length) : owner}${trimmed.slice(end)}`;
}
