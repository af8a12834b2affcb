import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { checkFolder, copyPlainFiles, syncTree, writeFile0600 } from "./backup_files.ts";
import type { RuntimeHost } from "./open_bare.ts";
import { checkPlaces } from "./check_places.ts";
import { stateDir } from "./places.ts";
import { ReynError } from "../errors/reyn_error.ts";
import { backupExists, copyDatabase } from "../store/sqlite/copy.ts";
import { DATABASE_FILE } from "../store/sqlite/files.ts";
import { inspect } from "../store/sqlite/inspect.ts";
import { SCHEMA_VERSION } from "../store/sqlite/schema.ts";
import { stateError } from "../store/sqlite/sqlite_errors.ts";
import { surroundings } from "./surroundings.ts";

export interface BackupOptions {
  controlDir: string;
  /** Absolute. One that ends in `.db` becomes a copy of the database alone, any other a folder laid out like `.reyn`. */
  target: string;
  /** Also what the operator has approved: allowlist and trust. Only into a folder. */
  approvals: boolean;
  /** Of the program that makes it. */
  reyn: string;
  host: RuntimeHost;
}

export interface BackupReport {
  target: string;
  kind: "database" | "folder";
  /** Of its schema. */
  version: number;
  /** Of the database. */
  bytes: number;
  /** Besides the database, as paths in the folder. */
  files: string[];
  /** Pending files of composers that a copy of the database alone leaves out. */
  left_out: string[];
}

/**
 * Copies the state as of one instant, also while a reyn runs on it: nothing is stopped or locked. What is copied is examined, is
 * readable by us alone, and appears whole or not at all. Throws E_BACKUP_EXISTS, E_BACKUP_NOTHING, E_BACKUP_WRITE, E_STATE_*.
 */
export async function backUp(options: BackupOptions): Promise<BackupReport> {
  const { controlDir, target, host } = options;
  checkPlaces(controlDir);
  const source = join(stateDir(controlDir), DATABASE_FILE);
  checkSource(source);
  if (existsSync(target)) throw backupExists(target);
  checkFolder(dirname(target));
  return target.endsWith(".db")
    ? await backUpDatabase(source, options)
    : await writing(target, () => backUpFolder(source, options, `${target}.partial-${host.ids.next()}`));
}

async function backUpDatabase(source: string, { controlDir, target, approvals, host }: BackupOptions) {
  if (approvals) {
    throw new ReynError("E_USAGE", "--approvals goes with a folder, not with a single .db file", {
      exitCode: 2,
    });
  }
  const { bytes, version } = await writing(
    target,
    () => Promise.resolve(copyDatabase(source, target, host.fault)),
  );
  const pending = (await copyPlainFiles(join(controlDir, ".reyn"), undefined))
    .filter((file) => basename(file) === "composer_pending.json");
  return { target, kind: "database" as const, version, bytes, files: [], left_out: pending };
}

async function backUpFolder(source: string, options: BackupOptions, partial: string): Promise<BackupReport> {
  const { controlDir, target, host } = options;
  await mkdir(join(partial, "state"), { recursive: true, mode: 0o700 });
  try {
    // Pending files first: what fires in between is then in both, and is known by its id when it fires again.
    const files = await copyPlainFiles(join(controlDir, ".reyn"), partial);
    if (options.approvals) {
      const { allowlistPath, account } = surroundings(controlDir);
      const trust = join(account.home, ".reyn", "trust.json");
      files.push(...await copyApprovals([allowlistPath, trust], partial));
    }
    host.fault("backup:before_database");
    const { bytes, version } = copyDatabase(source, join(partial, "state", DATABASE_FILE), host.fault);
    const about = {
      reyn: options.reyn,
      version,
      made_at: new Date(host.clock.now()).toISOString(),
      control_dir: controlDir,
      database: `state/${DATABASE_FILE}`,
      files,
    };
    await writeFile0600(join(partial, "backup.json"), `${JSON.stringify(about, null, 2)}\n`);
    await syncTree(partial);
    host.fault("backup:before_named");
    // An empty folder that came meanwhile is taken; anything else makes this fail.
    await rename(partial, target);
    await syncTree(dirname(target), { deep: false });
    return { target, kind: "folder", version, bytes, files, left_out: [] };
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

async function copyApprovals(paths: readonly string[], partial: string): Promise<string[]> {
  const copied: string[] = [];
  for (const path of paths) {
    if (!existsSync(path)) continue;
    const name = join("approvals", basename(path));
    await writeFile0600(join(partial, name), { from: path });
    copied.push(name);
  }
  return copied;
}

function checkSource(path: string): void {
  let found;
  try {
    found = inspect(path, { repair: false });
  } catch (error) {
    throw stateError(error, path);
  }
  switch (found.state) {
    case "ours":
      return;
    case "absent":
    case "fresh":
      throw new ReynError(
        "E_BACKUP_NOTHING",
        `there is nothing to back up: ${path} is not there or is empty`,
      );
    case "damaged":
      throw new ReynError("E_STATE_CORRUPT", `${path} is damaged: ${found.reason}`, {
        fix: "the next start of reyn sets it aside; keep the backups that you have",
      });
    case "newer":
      throw new ReynError(
        "E_STATE_NEWER",
        `${path} has version ${found.version}, this reyn knows up to ${SCHEMA_VERSION}`,
        { fix: "make the backup with the newer reyn" },
      );
  }
}

async function writing<T>(target: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ReynError) throw error;
    const said = error instanceof Error ? error.message : String(error);
    const code = error instanceof Error ? Reflect.get(error, "code") : undefined;
    if (code === "ENOTEMPTY" || code === "EEXIST" || code === "ENOTDIR") throw backupExists(target);
    throw new ReynError("E_BACKUP_WRITE", `${target}: ${said}; nothing is left of it`, { cause: error });
  }
}
