import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, sleep } from "../clock/clock.ts";
import type { Finding } from "../errors/finding.ts";
import { finding } from "../errors/reyn_error.ts";
import { type AuditLine, type FileCursor, fileCursor } from "./file_cursor.ts";
import { type AuditFileName, compareAuditFiles, DAY_MS, dayOf, parseAuditFileName } from "./file_name.ts";
import { groupOf } from "./groups.ts";
import { hasCode, reasonOf } from "./io_error.ts";
import { merge, type MergeSource } from "./merge.ts";

export type { AuditLine } from "./file_cursor.ts";

/** All that are given must hold. Events of no session fail `session` and `agent`; types that this version does not know fail `groups`. */
export interface AuditFilter {
  session?: string;
  /** All sessions of this agent. */
  agent?: string;
  types?: ReadonlySet<string>;
  groups?: ReadonlySet<string>;
  /** Epoch milliseconds; an event at that instant is in. */
  sinceMs?: number;
}

export interface ReadAuditOptions {
  /** The events folder. One that is not there is empty. */
  dir: string;
  filter?: AuditFilter;
  clock: Clock;
  /** Go on with what is appended until the signal aborts. Default false. */
  follow?: boolean;
  /** How often to look for more, in follow mode. Default 100. */
  pollMs?: number;
  /** Ends the reading, without an error. */
  signal?: AbortSignal;
  /** Bytes at the end of a file that are read of it; undefined: all of it. */
  tailBytes?: (name: string) => number | undefined;
  /** Only what is written behind these ends is read. */
  behind?: AuditEnds;
  /**
   * Told once for each file that is unreadable (E_FILE_UNREADABLE) or holds damaged lines (W_AUDIT_DAMAGED); those that are too old for
   * the filter may not be noticed.
   */
  onProblem?: (problem: Finding) => void;
}

interface OpenFile {
  name: string;
  parsed: AuditFileName;
  cursor: FileCursor;
  /** Not read any more. */
  failed: boolean;
  damageReported: boolean;
}

/**
 * Every event of the folder in order of time, then file, then line. A cut or zero-filled end of a file is passed over.
 * In follow mode the order holds within each look at the folder; a line that is not complete is held back until it is.
 */
export async function* readAudit(options: ReadAuditOptions): AsyncGenerator<AuditLine> {
  const { dir, filter = {}, clock, follow = false, pollMs = 100, signal, onProblem = () => {} } = options;
  const { tailBytes = () => undefined, behind } = options;
  const files = new Map<string, OpenFile>();
  const firstDay = behind ? behind.firstDay : filter.sinceMs === undefined ? "" : dayOf(filter.sinceMs);
  const { sinceMs } = filter;
  let folderReported = false;

  const listFiles = async (): Promise<OpenFile[]> => {
    let names: string[] = [];
    try {
      names = await readdir(dir);
    } catch (error) {
      if (!hasCode(error, "ENOENT") && !folderReported) {
        folderReported = true;
        onProblem(unreadable(dir, error));
      }
    }
    const round: OpenFile[] = [];
    const listed = names.flatMap((name) => {
      const parsed = parseAuditFileName(name);
      return parsed && parsed.day >= firstDay ? [{ name, parsed }] : [];
    });
    // Files of earlier days grow no more, and there may be very many.
    const lastWritten = growingSince(clock, listed.map(({ parsed }) => parsed.day));
    for (const { name, parsed } of listed) {
      const known = files.get(name);
      if (known?.failed) continue;
      if (!known) {
        const from = behind?.bytes.get(name) ?? await beginning(join(dir, name), tailBytes(name));
        const since = sinceMs === undefined ? {} : { sinceMs };
        const cursor = fileCursor(join(dir, name), name, { final: !follow, from, ...since });
        const file = { name, parsed, cursor, failed: false, damageReported: false };
        files.set(name, file);
        round.push(file);
      } else if (parsed.day >= lastWritten && await hasGrown(dir, known)) {
        round.push(known);
      }
    }
    return round.sort((a, b) => compareAuditFiles(a.parsed, b.parsed));
  };

  const source = (file: OpenFile): MergeSource<AuditLine> => ({
    from: Date.parse(file.parsed.day),
    async next() {
      try {
        for (;;) {
          const line = signal?.aborted ? null : await file.cursor.next();
          if (!line) return null;
          if (passes(line, filter)) return { key: line.at, item: line };
        }
      } catch (error) {
        if (hasCode(error, "ENOENT")) return null;
        file.failed = true;
        onProblem(unreadable(join(dir, file.name), error));
        return null;
      }
    },
  });

  for (;;) {
    const round = await listFiles();
    for await (const line of merge(round.map(source))) {
      if (signal?.aborted) return;
      yield line;
    }
    for (const file of round) {
      const count = file.cursor.damaged();
      if (count === 0 || file.damageReported) continue;
      file.damageReported = true;
      onProblem(damage(join(dir, file.name), count));
    }
    if (!follow || signal?.aborted || !(await sleep(clock, pollMs, signal))) return;
  }
}

/** How far the files of a folder went at some time. */
export interface AuditEnds {
  /** Files of earlier days had been written for good. */
  firstDay: string;
  bytes: ReadonlyMap<string, number>;
}

/** Where the files end now. A folder that cannot be read has none. */
export async function auditEnds({ dir, clock }: { dir: string; clock: Clock }): Promise<AuditEnds> {
  const names = await readdir(dir).catch(() => []);
  const days = names.flatMap((name) => parseAuditFileName(name)?.day ?? []);
  const firstDay = growingSince(clock, days);
  const bytes = new Map<string, number>();
  for (const name of names) {
    const day = parseAuditFileName(name)?.day;
    if (day === undefined || day < firstDay) continue;
    const { size } = await stat(join(dir, name)).catch(() => ({ size: 0 }));
    // The last newline is read again, so that the line behind it is the first.
    bytes.set(name, Math.max(0, size - 1));
  }
  return { firstDay, bytes };
}

/** The first day whose files may still grow. */
function growingSince(clock: Clock, days: readonly string[]): string {
  const yesterday = dayOf(clock.now() - DAY_MS);
  const newest = days.reduce((newer, day) => day > newer ? day : newer, "");
  return newest < yesterday ? newest : yesterday;
}

async function beginning(path: string, tail: number | undefined): Promise<number> {
  if (tail === undefined) return 0;
  return await stat(path).then(({ size }) => Math.max(0, size - tail), () => 0);
}

async function hasGrown(dir: string, file: OpenFile): Promise<boolean> {
  try {
    const { size, ino } = await stat(join(dir, file.name));
    return file.cursor.behind(size, ino);
  } catch {
    return false;
  }
}

function passes({ event: { session, type }, at }: AuditLine, filter: AuditFilter): boolean {
  if (filter.session !== undefined && session !== filter.session) return false;
  if (filter.agent !== undefined && session?.startsWith(`${filter.agent}/`) !== true) return false;
  if (filter.types && !filter.types.has(type)) return false;
  if (filter.groups && !filter.groups.has(groupOf(type) ?? "")) return false;
  return filter.sinceMs === undefined || at >= filter.sinceMs;
}

function unreadable(path: string, error: unknown): Finding {
  return finding("E_FILE_UNREADABLE", `${path}: ${reasonOf(error)}`, { fix: "its events are left out" });
}

function damage(path: string, count: number): Finding {
  const lines = count === 1 ? "1 line is" : `${count} lines are`;
  return finding("W_AUDIT_DAMAGED", `${path}: ${lines} damaged`, { fix: "left out; the others are shown" });
}
