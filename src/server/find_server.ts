import { stateDir } from "../runtime/places.ts";
import { type LockHolder, lockHolder } from "../store/state_lock.ts";

/** Who holds the state folder, if that is a server. */
export function findServer(controlDir: string): LockHolder | undefined {
  const holder = lockHolder(stateDir(controlDir));
  return holder?.verb === "serve" ? holder : undefined;
}
