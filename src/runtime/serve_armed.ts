import { readdirSync } from "node:fs";
import { join } from "node:path";
import { derivedId } from "../composers/derived_event.ts";
import { peekPending } from "../composers/pending_load.ts";
import { agentDir } from "../config/control_paths.ts";
import type { SessionRef } from "../hooks/session_ref.ts";
import { isSessionName } from "../session/names.ts";
import { pendingPath } from "./places.ts";

/** Sessions of these agents whose composers have left something armed that is still to fire, or a file that is damaged. */
export function armedSessions(controlDir: string, agents: readonly string[]): string[] {
  return agents.flatMap((agent) => sessionsWithState(controlDir, agent))
    .filter((ref) => isArmed(controlDir, ref))
    .map(({ agent, sid }) => `${agent}/${sid}`);
}

/**
 * Ids of the composed events that sessions of these agents have yet to publish, or will publish again after a crash: pushes of
 * theirs may be in an inbox already, and are known by their ids then.
 */
export function owedEvents(controlDir: string, agents: readonly string[]): Set<string> {
  const owed = new Set<string>();
  for (const ref of agents.flatMap((agent) => sessionsWithState(controlDir, agent))) {
    const found = peekPending(pendingPath(controlDir, ref), () => undefined);
    if (!found?.ok) continue;
    for (const { record } of found.records) {
      if (record.t === "fired") owed.add(record.event.id);
      else for (const { id } of record.events) owed.add(derivedId(record.composer, id));
    }
  }
  return owed;
}

function sessionsWithState(controlDir: string, agent: string): SessionRef[] {
  const sids = ["main", ...foldersOf(join(controlDir, agentDir(agent), "state", "sessions"))];
  return sids.filter(isSessionName).map((sid) => ({ agent, sid }));
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
