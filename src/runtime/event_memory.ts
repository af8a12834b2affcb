/** Events that were taken, known by their ids for a while, in the memory of this process alone. */
export interface EventMemory {
  /**
   * Does the work unless it was done for that id before; then answers `duplicate`. While it is being done whoever comes second
   * waits, and does it itself where the first one failed.
   */
  once<T>(session: string, id: string, work: () => Promise<T>): Promise<T | "duplicate">;
}

/** Ids that are remembered of one session, and of all. */
export const MOST_IDS = 256;
const MOST_IN_ALL = 16_384;

export function createEventMemory(most = MOST_IDS, mostInAll = MOST_IN_ALL): EventMemory {
  /** Sessions in the order of their last event; of each, its ids in the order in which they came. */
  const sessions = new Map<string, Map<string, Promise<boolean>>>();
  let size = 0;

  const remember = (session: string, id: string, done: Promise<boolean>): void => {
    const ids = sessions.get(session) ?? new Map<string, Promise<boolean>>();
    sessions.delete(session);
    sessions.set(session, ids);
    if (!ids.has(id)) size += 1;
    ids.set(id, done);
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

  const forget = (session: string, id: string, done: Promise<boolean>): void => {
    const ids = sessions.get(session);
    if (ids?.get(id) !== done) return;
    ids.delete(id);
    size -= 1;
    if (ids.size === 0) sessions.delete(session);
  };

  return {
    async once(session, id, work) {
      for (;;) {
        const before = sessions.get(session)?.get(id);
        if (before === undefined) break;
        if (await before) return "duplicate";
      }
      const { promise: done, resolve } = Promise.withResolvers<boolean>();
      remember(session, id, done);
      try {
        const result = await work();
        resolve(true);
        return result;
      } catch (error) {
        forget(session, id, done);
        resolve(false);
        throw error;
      }
    },
  };
}
