import { join } from "node:path";
import { sessionDir } from "../config/control_paths.ts";
import type { SessionRef } from "../hooks/session_ref.ts";

/** Where the store and the lock are. */
export function stateDir(controlDir: string): string {
  return join(controlDir, ".reyn", "state");
}

/** Where the audit log is. */
export function eventsDir(controlDir: string): string {
  return join(controlDir, ".reyn", "events");
}

/** Where the composers of a session keep what has to outlive the process. */
export function pendingPath(controlDir: string, { agent, sid }: SessionRef): string {
  return join(controlDir, sessionDir(agent, sid), "composer_pending.json");
}
