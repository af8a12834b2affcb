import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Where a server listens, for those who find it by its folder. */
export interface ServerFacts {
  pid: number;
  /** Null where it listens on the control socket alone. */
  url: string | null;
  host: string | null;
  port: number | null;
  started_at: string;
}

const NAME = "server.json";

/** Writes `server.json` in the state folder; the returned function removes it. */
export function writeServerFile(stateDir: string, facts: ServerFacts): () => void {
  const path = join(stateDir, NAME);
  const partial = `${path}.new`;
  rmSync(partial, { force: true });
  writeFileSync(partial, `${JSON.stringify(facts)}\n`, { mode: 0o600, flag: "wx" });
  renameSync(partial, path);
  return () => rmSync(path, { force: true });
}
