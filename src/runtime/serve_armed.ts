import { readdirSync } from "node:fs";
import { join } from "node:path";
import { peekPending } from "../composers/pending_load.ts";
import { agentDir } from "../config/control_paths.ts";
import type { SessionRef } from "../hooks/session_ref.ts";
import { isSessionName } from "../session/names.ts";
import { pendingPath } from "./places.ts";

/** Sessions of these agents whose composers have left something armed that is still to fire, or a file that is damaged. */
export function armedSessions(controlDir: string, agents: readonly string[]): string[] {
  return agents.flatMap((agent) => {
    const sids = ["main", ...foldersOf(join(controlDir, agentDir(agent), "state", "sessions"))];
    return sids.filter((sid) => isSessionName(sid) && isArmed(controlDir, { agent, sid }))
      .map((sid) => `${agent}/${sid}`);
  });
}

function isArmed(controlDir: string, ref: SessionRef): boolean {
  const found = peekPending(pendingPath(controlDir, ref), () => undefined);
  return found !== undefined && (!found.ok || found.records.length > 0 || found.damaged.length > 0);
}

function foldersOf(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) =>
      name
    );
  } catch {
    return [];
  }
}
