import { join } from "node:path";
import process from "node:process";
import type { Audit } from "../audit/audit.ts";
import { openAudit } from "../audit/writer.ts";
import type { Clock } from "../clock/clock.ts";
import type { Ids } from "../clock/ids.ts";
import { EXIT } from "../errors/exit_codes.ts";
import { formatFinding } from "../errors/finding.ts";
import { formatError, ReynError } from "../errors/reyn_error.ts";
import { openSqliteStore, type StoreNotice } from "../store/sqlite/open.ts";
import { acquireStateLock, type LockHolder } from "../store/state_lock.ts";
import type { Store } from "../store/store.ts";
import { checkPlaces } from "./check_places.ts";
import type { Instrument } from "./instrument.ts";
import { eventsDir, stateDir } from "./places.ts";

export interface RuntimeHost {
  clock: Clock;
  /** Paces disk writes. */
  ioClock: Clock;
  ids: Ids;
  fault(label: string): void;
}

export interface OpenBareOptions {
  controlDir: string;
  /** What the process does, for the one who finds the state folder held. */
  verb: string;
  host: RuntimeHost;
  /** Lines for the operator. */
  talk: (line: string) => void;
  instrument?: Instrument;
}

/** The state folder, taken: its store and its audit log. */
export interface Bare {
  store: Store;
  audit: Audit;
  /** As what sessions are claimed. */
  owner: string;
  leaseMs: number;
  close(): Promise<void>;
}

/** On one machine the lock keeps others out, so that a process that comes after a crash need not wait for a lease. */
const EMBEDDED_OWNER = "local";
const EMBEDDED_LEASE_MS = 10 * 365 * 24 * 3600 * 1000;

/**
 * Takes the state folder and opens store and log. Throws E_ALREADY_RUNNING (exit 6), naming the holder, when another
 * process has it, and E_STATE_* when the folder or the store cannot be used.
 */
export async function openBare({ controlDir, verb, host, talk, instrument }: OpenBareOptions): Promise<Bare> {
  checkPlaces(controlDir);
  const dir = stateDir(controlDir);
  const lock = acquireStateLock({
    dir,
    holder: { verb, pid: process.pid, startedAt: host.clock.now() },
  });
  if (lock.status === "held") throw alreadyRunning(dir, lock.holder);
  const log = openAudit({
    dir: eventsDir(controlDir),
    clock: host.ioClock,
    ids: host.ids,
    pid: process.pid,
    onProblem(problem) {
      instrument?.auditProblem(problem.code);
      talk(`${formatFinding(problem)}\n`);
    },
    ...(instrument ? { onLost: instrument.auditLost } : {}),
  });
  const audit = instrument?.audit(log) ?? log;
  try {
    const opened = await openSqliteStore({
      dir,
      clock: host.ioClock,
      killPoint: host.fault,
      onNotice(notice) {
        instrument?.storeNotice(notice.kind);
        reportNotice(notice, audit, talk);
      },
    });
    const store = instrument?.store(opened) ?? opened;
    return {
      store,
      audit,
      owner: EMBEDDED_OWNER,
      leaseMs: EMBEDDED_LEASE_MS,
      async close() {
        await store.close();
        await audit.close();
        lock.release();
      },
    };
  } catch (error) {
    await audit.close();
    lock.release();
    throw error;
  }
}

function reportNotice(notice: StoreNotice, audit: Audit, talk: (line: string) => void): void {
  switch (notice.kind) {
    case "set_aside":
      audit.emit("store_set_aside", null, { path: notice.path, reason: notice.reason });
      return;
    case "migrated":
      talk(
        `the store was of version ${notice.from} and is now of ${notice.to}; a copy as it was: ${notice.path}\n`,
      );
      return;
    case "started_empty":
      talk(`the store begins empty; what was damaged lies in ${notice.damaged.join(", ")}\n`);
      return;
    case "failing":
      talk(
        `${formatError(notice.error)}\nnothing is stored until this is mended; what is there can be read\n`,
      );
      return;
    case "reopened":
      talk(
        "writes to the store had failed; it was opened again, holds all that was acknowledged, and takes more\n",
      );
      return;
  }
}

function alreadyRunning(dir: string, holder: LockHolder | undefined): ReynError {
  const who = holder
    ? `\`reyn ${holder.verb}\` (pid ${holder.pid}, since ${new Date(holder.startedAt).toISOString()})`
    : "another process";
  return new ReynError("E_ALREADY_RUNNING", `${who} holds ${join(dir, "lock")}`, {
    fix: "wait for it, stop it, or use another control folder",
    exitCode: EXIT.alreadyRunning,
  });
}
