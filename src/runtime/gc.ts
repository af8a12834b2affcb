import type { Audit } from "../audit/audit.ts";
import type { Clock } from "../clock/clock.ts";
import type { SessionRow, Store } from "../store/store.ts";
import { oldEventFiles, oldSetAside, type Removable, removeFiles } from "./gc_files.ts";
import { owedEvents } from "./serve_armed.ts";
import { eventsDir, stateDir } from "./places.ts";

/** What is kept. */
export interface Retention {
  /** Files of the audit log, by the day that they are of. */
  eventsMs: number;
  /** All of them together; 0 is no limit. The oldest go first. */
  eventsBytes: number;
  /** Ids of consumed messages: within this time a message that is sent again is known as the same. */
  idsMs: number;
  /** Damaged databases, and copies made before a migration. */
  setAsideMs: number;
}

const DAY_MS = 86_400_000;

export const DEFAULT_RETENTION: Retention = {
  eventsMs: 30 * DAY_MS,
  eventsBytes: 1024 ** 3,
  idsMs: 7 * DAY_MS,
  setAsideMs: 90 * DAY_MS,
};

/** What was removed, or with `dry_run` would be. */
export interface GcReport {
  dry_run: boolean;
  events: { files: number; bytes: number };
  ids: number;
  records: number;
  set_aside: { files: number; bytes: number };
}

export interface GcOptions {
  controlDir: string;
  store: Store;
  audit: Audit;
  clock: Clock;
  retention: Retention;
  dry: boolean;
  fault: (label: string) => void;
}

/**
 * Removes what is no longer needed: old files of the audit log, ids of messages that nobody sends again, log records that a
 * snapshot stands for, and what was set aside long ago. The caller holds the state folder. Each step can be cut off anywhere and
 * begun again; sessions may run meanwhile, for no transaction is longer than a few thousand rows.
 */
export async function collectGarbage(options: GcOptions): Promise<GcReport> {
  const { controlDir, store, audit, clock, retention, dry, fault } = options;
  const now = clock.now();
  const events = await oldEventFiles(eventsDir(controlDir), {
    before: now - retention.eventsMs,
    bytes: retention.eventsBytes,
    now,
  });
  if (!dry) removeFiles(events, () => fault("gc:in_events"));

  const rows = await store.sessions();
  const unfinished = new Set(rows.filter(isUnfinished).map(({ id }) => id));
  const acceptedBefore = now - retention.idsMs;
  const owed = owedEvents(controlDir, agentsIn(rows));
  const keep = (id: string) => unfinished.has(senderOf(id)) || owed.has(eventOf(id));
  const ids = await store.forget({ acceptedBefore, keep, dry });
  let records = 0;
  for (const { id } of rows) records += dry ? await store.truncatable(id) : await store.truncate(id);

  const setAside = await oldSetAside(stateDir(controlDir), now - retention.setAsideMs);
  if (!dry) removeFiles(setAside, () => fault("gc:in_set_aside"));
  const report = {
    dry_run: dry,
    events: summed(events),
    ids,
    records,
    set_aside: summed(setAside),
  };
  if (!dry) {
    audit.emit("gc_removed", null, {
      events_files: report.events.files,
      ids,
      records,
      set_aside_files: report.set_aside.files,
      bytes: report.events.bytes + report.set_aside.bytes,
    });
  }
  return report;
}

/**
 * A turn that was cut off is taken up again whenever the session is next opened, and what it pushed before is then pushed again,
 * under the same ids: until then they are what keeps it from being taken twice.
 */
function isUnfinished({ status }: SessionRow): boolean {
  return (status["open"] === true && status["unloaded"] !== true) || status["retry"] === true;
}

/** Those whose sessions are known: a composer has nothing pending before its session is stored. */
function agentsIn(rows: readonly SessionRow[]): string[] {
  return [...new Set(rows.map(({ id }) => id.split("/", 1)[0] ?? ""))];
}

/** The id of a push is that of the event that its hook is at, then the hook: `<layer>:<name>`, and a name may have slashes. */
function eventOf(id: string): string {
  return id.replace(/\/(?:operator|startup|runtime|agent|session):.*$/s, "");
}

/** Ids of pushes begin with the session that sends them. */
function senderOf(id: string): string {
  return id.split("/", 2).join("/");
}

function summed(files: readonly Removable[]): { files: number; bytes: number } {
  return { files: files.length, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) };
}
