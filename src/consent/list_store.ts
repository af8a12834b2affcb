import process from "node:process";
import { type Clock, sleep, systemClock } from "../clock/clock.ts";
import { type ListRead, readListFile, realName, setAside, writeListFile } from "./list_file.ts";
import { lockFor } from "./kernel_lock.ts";

export type Stored = { status: "stored" } | { status: "not_stored"; reason: string };

export interface ListStoreOptions {
  /** Absolute. */
  path: string;
  clock: Clock;
  /** Whose the file must be. Default: the account that this process acts as. */
  uid?: number;
  /** Longest wait for another writer, in milliseconds. Default 5000. */
  lockWaitMs?: number;
  /** Why the file counts for nothing, whatever is in it. */
  problem?: string | undefined;
  /** Told when a damaged file was put elsewhere. */
  onSetAside(reason: string, aside: string): void;
  /** Told when this process has had the lock: what was read before counts no longer. */
  onChanged?(): void;
}

/** A file with a list of what a person has agreed to: ours alone, whole or not at all. Nothing here throws. */
export interface ListStore {
  read(): ListRead;
  /** `edit` gets the elements as they stand and answers the new text; undefined: nothing is to change. */
  change(edit: (elements: readonly unknown[]) => string | undefined): Promise<Stored>;
  /** Sets a damaged file aside, if it still is after a moment. */
  settleDamage(): Promise<void>;
}

/** How long a damaged file is given: an editor may just be writing it. */
const EDITOR_MS = 100;

export function listStore(options: ListStoreOptions): ListStore {
  const { path, clock, lockWaitMs = 5000 } = options;
  const uid = options.uid ?? process.geteuid?.() ?? -1;

  const look = (): ListRead =>
    options.problem === undefined ? readListFile(path, uid) : { status: "unsafe", reason: options.problem };

  /** Under the lock. Answers why the damaged file is still there, if it is. */
  const settle = async (): Promise<string | undefined> => {
    await sleep(systemClock, EDITOR_MS);
    const again = readListFile(path, uid);
    if (again.status !== "damaged") return undefined;
    const aside = await setAside(path, clock.now());
    if (aside === undefined) return `${again.reason}, and it cannot be set aside`;
    options.onSetAside(again.reason, aside);
    return undefined;
  };

  const locked = async <T>(work: () => Promise<T>): Promise<T | { reason: string }> => {
    const lock = await lockFor(realName(path), lockWaitMs);
    if (!lock.ok) return { reason: lock.reason };
    try {
      return await work();
    } finally {
      lock.release();
      options.onChanged?.();
    }
  };

  return {
    read: look,
    async change(edit) {
      if (options.problem !== undefined) {
        return { status: "not_stored", reason: `${path}: ${options.problem}` };
      }
      const result = await locked(async () => {
        let now = readListFile(path, uid);
        if (now.status === "damaged") {
          const reason = await settle();
          if (reason !== undefined) return { reason };
          now = readListFile(path, uid);
        }
        if (now.status === "unsafe" || now.status === "damaged") return { reason: `${path}: ${now.reason}` };
        const next = edit(now.status === "read" ? now.elements : []);
        if (next === undefined) return {};
        const written = await writeListFile(path, next);
        return written.ok ? {} : { reason: written.reason };
      });
      return "reason" in result ? { status: "not_stored", reason: result.reason } : { status: "stored" };
    },
    async settleDamage() {
      await locked(settle);
    },
  };
}
