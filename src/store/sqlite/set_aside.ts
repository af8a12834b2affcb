import { existsSync, renameSync } from "node:fs";
import { dirname } from "node:path";
import { clearSuspect, fileStamp, syncFolder } from "./files.ts";

/** The database first: a crash in between leaves a `-wal` without one, which the next start sees and moves as well. */
const SUFFIXES = ["", "-wal", "-shm", "-journal"] as const;

/**
 * Renames the database and what belongs to it to `<path>.damaged-<UTC time>`, a name that was free, so that the set still
 * opens together with SQLite's own tools. Answers the new path. Nothing is ever overwritten or removed.
 */
export function setAside(path: string, nowMs: number, killPoint: (label: string) => void): string {
  const target = freeName(`${path}.damaged-${fileStamp(nowMs)}`);
  killPoint("store:before_set_aside");
  for (const suffix of SUFFIXES) {
    if (existsSync(path + suffix)) renameSync(path + suffix, target + suffix);
    killPoint("store:in_set_aside");
  }
  clearSuspect(path);
  syncFolder(dirname(path));
  return target;
}

function freeName(base: string): string {
  let name = base;
  for (let n = 2; SUFFIXES.some((suffix) => existsSync(name + suffix)); n++) name = `${base}-${n}`;
  return name;
}
