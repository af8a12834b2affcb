import type { Database } from "./database.ts";
import type { GroupCommit } from "./group_commit.ts";
import { truncatablePositions } from "./wal_chain.ts";

const ROWS_A_TRANSACTION = 1000;

/**
 * Oldest first and a stretch at a time, so that other commits get in between and a crash on the way leaves a chain
 * whose rest the next call finds.
 */
export async function truncateWal(
  database: Database,
  commits: GroupCommit,
  session: string,
  killPoint: (label: string) => void,
): Promise<number> {
  const found = await truncatablePositions(database, session);
  if (!found) return 0;
  const { key, positions } = found;
  for (let from = 0; from < positions.length; from += ROWS_A_TRANSACTION) {
    const stretch = JSON.stringify([...positions.subarray(from, from + ROWS_A_TRANSACTION)]);
    await commits.submit(stretch.length, ({ statements }) => {
      statements.maintenanceOn.run(key);
      statements.walDelete.run(stretch, key);
      statements.maintenanceOff.run(key);
      return { keep: true, value: undefined };
    });
    killPoint("store:in_truncate");
  }
  return positions.length;
}
