/** Events that were taken, known by their ids for a while, in the memory of this process alone. */
export interface EventMemory {
  /**
   * Does the work unless it was done for that id before; then answers `duplicate`. While it is being done whoever comes second
   * waits, and does it itself where the first one failed. `says`: what the event says; `conflict` is answered where the one
   * that was taken under that id says something else.
   */
  once<T>(
    session: string,
    id: string,
    says: string,
    work: () => Promise<T>,
  ): Promise<T | "duplicate" | "conflict">;
}

/** Ids that are remembered of one session, and of all. */
export const MOST_IDS = 256;
const MOST_IN_ALL = 16_384;

interface Taken {
  says: string;
  /** False: it failed. */
  done: Promise<boolean>;
}

export function createEventMemory(most = MOST_IDS, mostInAll = MOST_IN_ALL): EventMemory {
  /** Sessions in the order of their last event; of each, its ids in the order in which they came. */
  const sessions = new Map<string, Map<string, Taken>>();
  let size = 0;

  const remember = (session: string, id: string, taken: Taken): void => {
    const ids = sessions.get(session) ?? new Map<string, Taken>();
    sessions.delete(session);
    sessions.set(session, ids);
    if (!ids.has(id)) size += 1;
    ids.set(id, taken);
    if (ids.size > most) {
      for (const oldest of ids.keys()) {
        ids.delete(oldest);
        size -= 1;
        break;
      }
    }
    for (const [other, theirs] of sessions) {
      if (size <= mostInAll || other === session) break;
      sessions.delete(other);
      size -= theirs.size;
    }
  };

  const forget = (session: string, id: string, taken: Taken): void => {
    const ids = sessions.get(session);
    if (ids?.get(id) !== taken) return;
    ids.delete(id);
    size -= 1;
    if (ids.size === 0) sessions.delete(session);
  };

  return {
    async once(session, id, says, work) {
      for (;;) {
        const before = sessions.get(session)?.get(id);
        if (before === undefined) break;
        if (await before.done) return before.says === says ? "duplicate" : "conflict";
      }
      const { promise: done, resolve } = Promise.withResolvers<boolean>();
      const taken = { says, done };
      remember(session, id, taken);
      try {
        const result = await work();
        resolve(true);
        return result;
      } catch (error) {
        forget(session, id, taken);
        resolve(false);
        throw error;
      }
    },
  };
}
