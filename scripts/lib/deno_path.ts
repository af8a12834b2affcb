import { readdir } from "node:fs/promises";
import { arch, execPath, platform, versions } from "node:process";
import { join } from "node:path";
import { exists, REPO } from "./repo.ts";

/** The running Deno, or else the one that the lock file pins. */
export async function denoPath(root: string = REPO): Promise<string> {
  if ("deno" in versions) return execPath;
  const name = platform === "linux" ? `linux-${arch}-glibc` : `${platform}-${arch}`;
  const below = join(root, "node_modules", ".deno");
  const folders = (await exists(below)) ? await readdir(below) : [];
  for (const folder of folders.filter((entry) => entry.startsWith(`@deno+${name}@`)).sort().reverse()) {
    const file = platform === "win32" ? "deno.exe" : "deno";
    const path = join(below, folder, "node_modules", "@deno", name, file);
    if (await exists(path)) return path;
  }
  throw new Error(`Deno for ${name} is not installed in ${join(root, "node_modules")}`);
}
