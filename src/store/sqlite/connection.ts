import { DatabaseSync } from "node:sqlite";
import { migrate } from "./schema.ts";
import { prepareStatements, type Statements } from "./statements.ts";

/** How long SQLite itself waits for another process's lock, holding up the whole event loop. */
const BUSY_TIMEOUT_MS = 50;

const PRAGMAS = `
  PRAGMA synchronous = FULL;
  PRAGMA fullfsync = ON;
  PRAGMA checkpoint_fullfsync = ON;
  PRAGMA temp_store = MEMORY;
  PRAGMA cache_size = -16384;
  PRAGMA wal_autocheckpoint = 1000;
  PRAGMA journal_size_limit = 67108864;
`;

export interface Connection {
  readonly db: DatabaseSync;
  readonly statements: Statements;
}

export function connect(
  path: string,
  options: { readOnly: boolean; nowMs: number; inMigration?: () => void },
): Connection {
  const db = new DatabaseSync(path, { readOnly: options.readOnly, timeout: BUSY_TIMEOUT_MS });
  try {
    if (!options.readOnly) {
      db.exec("PRAGMA journal_mode = WAL");
      db.exec(PRAGMAS);
      const { nowMs, inMigration } = options;
      migrate(db, { nowMs, ...(inMigration ? { beforeCommit: inMigration } : {}) });
    }
    return { db, statements: prepareStatements(db) };
  } catch (error) {
    db.close();
    throw error;
  }
}
