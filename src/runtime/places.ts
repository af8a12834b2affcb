import { join } from "node:path";

/** Where the store and the lock are. */
export function stateDir(controlDir: string): string {
  return join(controlDir, ".reyn", "state");
}

/** Where the audit log is. */
export function eventsDir(controlDir: string): string {
  return join(controlDir, ".reyn", "events");
}
