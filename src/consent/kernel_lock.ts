import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { errorCode } from "../adapter/executable.ts";
import { sleep, systemClock } from "../clock/clock.ts";

export type KernelLock = { ok: true; release(): void } | { ok: false; reason: string };

const RETRY_MS = 10;

/**
 * Takes the lock that stands for `file`, among the processes and within this one; waits at most `waitMs`. It is the kernel's, on the
 * empty file `<file>.lock`, so it ends with its holder, however that ends: there is no stale lock to tell from a held one.
 * The lock file must not be opened by other means: closing any descriptor of it drops the process's locks on it.
 */
export async function lockFor(file: string, waitMs: number): Promise<KernelLock> {
  const lockFile = `${file}.lock`;
  const until = systemClock.monotonic() + waitMs;
  for (;;) {
    const lock = tryLock(lockFile);
    if (lock !== "held") return lock;
    if (systemClock.monotonic() >= until) {
      return { ok: false, reason: `${lockFile} was held by another process for ${waitMs / 1000} s` };
    }
    await sleep(systemClock, RETRY_MS);
  }
}

function tryLock(lockFile: string): KernelLock | "held" {
  let db: DatabaseSync | undefined;
  try {
    makePrivate(lockFile);
    const opened = db = new DatabaseSync(lockFile, { timeout: 0 });
    db.exec("BEGIN IMMEDIATE");
    return { ok: true, release: () => opened.close() };
  } catch (error) {
    db?.close();
    const said = error instanceof Error ? error.message : errorCode(error);
    return /database (table )?is locked/.test(said) ? "held" : { ok: false, reason: `${lockFile}: ${said}` };
  }
}

/** With any more rights another account could hold the lock for ever. */
function makePrivate(lockFile: string): void {
  if (existsSync(lockFile)) return;
  mkdirSync(path.dirname(lockFile), { recursive: true, mode: 0o700 });
  try {
    writeFileSync(lockFile, "", { flag: "wx", mode: 0o600 });
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  }
}
