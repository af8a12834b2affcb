/**
 * Lets a suspension of a session be told once: it is found anew whenever something comes to a session that takes no turns.
 * A turn means that it was ended meanwhile, so that the next one is news.
 */
export function newsOfSuspensions(): (event: { type?: unknown; hook?: unknown }, session: string) => boolean {
  const told = new Map<string, unknown>();
  return ({ type, hook }, session) => {
    if (type === "turn_started") told.delete(session);
    if (type !== "suspended") return true;
    if (told.get(session) === hook) return false;
    told.set(session, hook);
    return true;
  };
}
