import { systemClock } from "../clock/clock.ts";
import { openSqliteStore } from "../store/sqlite/open.ts";
import { lockHolder } from "../store/state_lock.ts";
import type { Store } from "../store/store.ts";
import { checkPlaces } from "./check_places.ts";
import { stateDir } from "./places.ts";

/** Opens the store for a listing: without the lock, without writing, and empty where there is none yet. */
export async function withStoreForReading<T>(
  controlDir: string,
  read: (
    opened: { store: Store; /** A running process holds the state folder. */ live: boolean },
  ) => Promise<T>,
): Promise<T> {
  checkPlaces(controlDir);
  const dir = stateDir(controlDir);
  const store = await openSqliteStore({ dir, clock: systemClock, readOnly: true });
  try {
    return await read({ store, live: lockHolder(dir) !== undefined });
  } finally {
    await store.close();
  }
}
