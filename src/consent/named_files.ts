import { type BigIntStats, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { errorCode } from "../adapter/executable.ts";

/** Compiles a glob that is held against one file name. */
export type CompileGlob = (pattern: string) => (name: string) => boolean;

export type NamedFiles =
  /** Absolute, sorted, regular files or links to some. */
  | { ok: true; files: string[] }
  | { ok: false; reason: string };

export interface NamedFilesOptions {
  /** The control folder: relative patterns start here, and wildcards pass over its `.reyn`. Absolute. */
  cwd: string;
  compileGlob: CompileGlob;
  /** Default 1000. */
  maxFiles?: number;
}

const WILDCARD = /[*?[]/;
const MOST_FOLDERS = 2000;
const MOST_NAMES = 20_000;
/** Names that are looked at before other work gets a turn. */
const BATCH = 200;

class Refused extends Error {}

/**
 * The files that one pattern of `consent_files` names. `*`, `?` and `[…]` stand for parts of one name, hidden names too; `**`
 * stands for any number of folders; a folder that is named without a wildcard stands for everything below it. Links to folders
 * are followed, each folder once.
 */
export async function namedFiles(pattern: string, options: NamedFilesOptions): Promise<NamedFiles> {
  const { cwd, compileGlob, maxFiles = 1000 } = options;
  const parts = pattern.split("/").filter((part) => part !== "" && part !== ".");
  const tests = parts.map((part) => (WILDCARD.test(part) && part !== "**" ? compileGlob(part) : undefined));
  const files = new Set<string>();
  const visited = new Set<string>();
  let looked = 0;

  const look = async (file: string): Promise<BigIntStats | undefined> => {
    if (++looked > MOST_NAMES) throw new Refused(`names more than ${MOST_NAMES} places to look at`);
    if (looked % BATCH === 0) await new Promise((resolve) => setImmediate(resolve));
    return statOf(file);
  };

  const add = (file: string) => {
    files.add(file);
    if (files.size > maxFiles) throw new Refused(`names more than ${maxFiles} files`);
  };

  /** What the parts from `index` on name below `folder`. */
  const walk = async (folder: string, index: number): Promise<void> => {
    const part = parts[index];
    const test = tests[index];
    const isLast = index >= parts.length - 1;
    if (part !== undefined && part !== "**" && !test) {
      const file = path.join(folder, part);
      const stat = isLast ? await look(file) : undefined;
      if (stat?.isFile()) add(file);
      else if (!isLast || stat?.isDirectory()) await walk(file, index + 1);
      return;
    }
    const stat = await look(folder);
    const place = stat?.isDirectory() ? `${index}:${stat.dev}:${stat.ino}` : undefined;
    if (place === undefined || visited.has(place)) return;
    visited.add(place);
    if (visited.size > MOST_FOLDERS) throw new Refused(`names more than ${MOST_FOLDERS} folders`);
    // Behind the last part everything counts, as behind a last `**`.
    const deep = !test;
    if (deep && !isLast) await walk(folder, index + 1);
    for (const name of await namesIn(folder)) {
      if (name === ".reyn" && folder === path.resolve(cwd)) continue;
      if (test && !test(name)) continue;
      const file = path.join(folder, name);
      const found = await look(file);
      if (!found && name.includes("\ufffd")) {
        throw new Refused(`names a file in ${folder} whose name is not UTF-8`);
      }
      if (found?.isFile() && isLast) add(file);
      else if (found?.isDirectory() && (deep || !isLast)) await walk(file, deep ? index : index + 1);
    }
  };

  try {
    await walk(path.isAbsolute(pattern) ? "/" : path.resolve(cwd), 0);
    return { ok: true, files: [...files].sort() };
  } catch (error) {
    if (error instanceof Refused) return { ok: false, reason: error.message };
    throw error;
  }
}

function statOf(file: string): BigIntStats | undefined {
  try {
    return statSync(file, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    const code = errorCode(error);
    if (["ENOTDIR", "ELOOP", "ENAMETOOLONG"].includes(code)) return undefined;
    throw new Refused(`names ${file}, which cannot be read (${code})`);
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT") return [];
    throw new Refused(`names ${folder}, which cannot be read (${code})`);
  }
}
