import { rmSync } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import {
  type AuditFileName,
  compareAuditFiles,
  DAY_MS,
  dayOf,
  parseAuditFileName,
} from "../audit/file_name.ts";
import { finding, ReynError } from "../errors/reyn_error.ts";

export interface Removable {
  path: string;
  bytes: number;
}

interface EventFile extends Removable {
  name: AuditFileName;
}

/**
 * Files of the audit log of days that ended before `before`, and of the others the oldest, until all together take no more than
 * `bytes` (0: no limit). Never one that a process may still write: of today or yesterday, by a process that lives.
 */
export async function oldEventFiles(
  dir: string,
  { before, bytes, now }: { before: number; bytes: number; now: number },
): Promise<Removable[]> {
  const files: EventFile[] = [];
  for (const file of await filesOf(dir)) {
    const name = parseAuditFileName(file.name);
    if (name) files.push({ path: file.path, bytes: file.bytes, name });
  }
  files.sort((a, b) => compareAuditFiles(a.name, b.name));
  const yesterday = dayOf(now - DAY_MS);
  let total = files.reduce((sum, file) => sum + file.bytes, 0);
  const old: Removable[] = [];
  for (const { path, bytes: size, name } of files) {
    const tooOld = Date.parse(name.day) + DAY_MS <= before;
    if (!tooOld && (bytes === 0 || total <= bytes)) continue;
    if (name.day >= yesterday && isAlive(name.pid)) continue;
    total -= size;
    old.push({ path, bytes: size });
  }
  return old;
}

/** Their names tell when they were set aside: the time of the file itself is that of its last write. */
const SET_ASIDE = /^reyn\.db\.(?:damaged|version-\d+)-(\d{8}T\d{6}Z)(?:-\d+)?(?:-wal|-shm|-journal)?$/;

export async function oldSetAside(dir: string, before: number): Promise<Removable[]> {
  return (await filesOf(dir)).filter(({ name }) => {
    const stamp = SET_ASIDE.exec(name)?.[1];
    return stamp !== undefined && timeOf(stamp) < before;
  });
}

/** One that is gone already is what was wanted. Throws E_STATE_IO with every one that could not be removed. */
export function removeFiles(files: readonly Removable[], removed: () => void): void {
  const findings = [];
  for (const { path } of files) {
    try {
      rmSync(path, { force: true });
      removed();
    } catch (error) {
      const said = error instanceof Error ? error.message : String(error);
      findings.push(finding("E_STATE_IO", `${path} could not be removed: ${said}`));
    }
  }
  if (findings.length > 0) throw new ReynError("E_STATE_IO", "not everything could be removed", { findings });
}

/** Regular files only: what a link leads to is nobody's to remove. A folder that is not there is empty. */
async function filesOf(dir: string): Promise<(Removable & { name: string })[]> {
  let names: string[];
  try {
    names = await readdir(dir);
  } catch (error) {
    if (error instanceof Error && Reflect.get(error, "code") === "ENOENT") return [];
    throw new ReynError(
      "E_FILE_UNREADABLE",
      `${dir}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  const files = [];
  for (const name of names) {
    const path = join(dir, name);
    const found = await lstat(path).catch(() => undefined);
    if (found?.isFile()) files.push({ name, path, bytes: found.size });
  }
  return files;
}

function timeOf(stamp: string): number {
  return Date.parse(stamp.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, "$1-$2-$3T$4:$5:$6Z"));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && Reflect.get(error, "code") === "EPERM";
  }
}
