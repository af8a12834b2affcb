import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { runProcess } from "../../lib/run_process.ts";

/** Gives the right to write back. */
export type Restore = () => Promise<void>;

/**
 * Makes these folders, and the files in them but for those that `keep` names, such that nobody writes them, not even who has them
 * open already: what a file system does that has failed. Answers why not where it cannot be done (needs root, and ext4 or the like).
 */
export async function makeImmutable(
  folders: readonly string[],
  keep: (name: string) => boolean = () => false,
): Promise<Restore | { refused: string }> {
  for (let attempt = 1;; attempt++) {
    const paths = await pathsOf(folders, keep);
    const change = async (how: "+i" | "-i") => {
      const told = await runProcess("chattr", ["-f", how, ...paths], { timeoutMs: 10_000 });
      return told.code === 0 ? undefined : told.output.trim() || `chattr ended with ${told.code}`;
    };
    const refused = await change("+i");
    if (refused === undefined) return async () => void await change("-i");
    await change("-i");
    // A file may have gone since it was listed.
    if (attempt === ATTEMPTS) return { refused };
  }
}

const ATTEMPTS = 5;

async function pathsOf(folders: readonly string[], keep: (name: string) => boolean): Promise<string[]> {
  const paths: string[] = [];
  for (const folder of folders) {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => undefined);
    if (!entries) continue;
    paths.push(folder);
    for (const entry of entries) {
      if (entry.isFile() && !keep(entry.name)) paths.push(join(folder, entry.name));
    }
  }
  return paths;
}

/** Mounts the folder over itself, read-only. */
export async function mountReadOnly(dir: string): Promise<Restore | { refused: string }> {
  const steps = [["--bind", dir, dir], ["-o", "remount,ro,bind", dir]];
  const umount: Restore = async () => void await runProcess("umount", [dir], { timeoutMs: 10_000 });
  for (const [at, step] of steps.entries()) {
    const told = await runProcess("mount", step, { timeoutMs: 10_000 });
    if (told.code === 0) continue;
    if (at > 0) await umount();
    return { refused: told.output.trim() || `mount ended with ${told.code}` };
  }
  return umount;
}
