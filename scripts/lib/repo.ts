import { access, readdir } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** Absolute path of the repository. */
export const REPO = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");

export async function exists(path: string): Promise<boolean> {
  return await access(path).then(() => true, () => false);
}

export interface ListOptions {
  /** Keeps a file, given its path relative to the root with forward slashes. */
  keep?: (path: string) => boolean;
  /** Does not enter a folder, given its path relative to the root. */
  skipFolder?: (path: string) => boolean;
}

/** Regular files below `root`, sorted, relative to it with forward slashes; an absent root holds none. */
export async function listFiles(root: string, options: ListOptions = {}): Promise<string[]> {
  const found: string[] = [];
  const visit = async (folder: string): Promise<void> => {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      const name = relative(root, path).split(sep).join("/");
      if (entry.isDirectory()) {
        if (!options.skipFolder?.(name)) await visit(path);
      } else if (entry.isFile() && (options.keep?.(name) ?? true)) {
        found.push(name);
      }
    }
  };
  if (await exists(root)) await visit(root);
  return found.sort();
}

/** The unit test files, relative to the repository; the files of cases are none. */
export async function unitTestFiles(): Promise<string[]> {
  const files = await listFiles(join(REPO, "test"), {
    keep: (path) => path.endsWith("_test.ts"),
    skipFolder: (path) => path === "cases" || path === "tables",
  });
  return files.map((file) => `test/${file}`);
}
