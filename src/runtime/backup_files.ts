import { constants, statSync } from "node:fs";
import { mkdir, open, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ReynError } from "../errors/reyn_error.ts";

/** What reyn itself writes besides the store, or lets agents write: each is rewritten whole, so that one read is consistent. */
const KEPT: ReadonlySet<string> = new Set([
  "composer_pending.json",
  "hooks.yaml",
  "cron.yaml",
  "mcp.yaml",
  "pipelines.yaml",
]);
/** Of the folder `.reyn`: the store is copied otherwise, the audit log is not needed to recover. */
const PASSED_OVER: ReadonlySet<string> = new Set(["state", "events"]);
const DEEPEST = 8;
const LARGEST = 64 * 1024 * 1024;

/** Throws E_BACKUP_WRITE unless it is a folder. */
export function checkFolder(dir: string): void {
  if (statSync(dir, { throwIfNoEntry: false })?.isDirectory()) return;
  throw new ReynError("E_BACKUP_WRITE", `there is no folder ${dir}`, { fix: "make it first" });
}

/** Copies what is kept of `from` to the same place in `to`; without `to` only answers their paths, sorted. Links are passed over. */
export async function copyPlainFiles(from: string, to: string | undefined): Promise<string[]> {
  const copied: string[] = [];
  const walk = async (relative: string, depth: number): Promise<void> => {
    if (depth > DEEPEST) return;
    const entries = await readdir(join(from, relative), { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = join(relative, entry.name);
      if (entry.isDirectory()) {
        // Of an agent `state` is a folder as any other.
        if (depth > 0 || !PASSED_OVER.has(entry.name)) await walk(path, depth + 1);
      } else if (entry.isFile() && KEPT.has(entry.name)) {
        if (to !== undefined) await writeFile0600(join(to, path), { from: join(from, path) });
        copied.push(path);
      }
    }
  };
  await walk("", 0);
  return copied.sort();
}

/** Makes a file that does not exist, and the folders above it, for us alone. */
export async function writeFile0600(path: string, content: string | { from: string }): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const bytes = typeof content === "string"
    ? new TextEncoder().encode(content)
    : await readPlainFile(content.from);
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function readPlainFile(path: string): Promise<Uint8Array> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { size } = await file.stat();
    if (size > LARGEST) throw new ReynError("E_FILE_TOO_LARGE", `${path} is larger than ${LARGEST} bytes`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/** Makes the names in a folder, and in those below it, durable. */
export async function syncTree(dir: string, { deep = true } = {}): Promise<void> {
  const entries = deep ? await readdir(dir, { withFileTypes: true }) : [];
  for (const entry of entries) if (entry.isDirectory()) await syncTree(join(dir, entry.name));
  const handle = await open(dir, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
