import { readdir } from "node:fs/promises";
import { arch, platform } from "node:process";
import { join } from "node:path";
import { exists, REPO } from "./repo.ts";

/** What Bun calls this machine in its package names: `linux-x64`, `darwin-aarch64`, `windows-x64`. */
export function bunTarget(): string {
  const os = platform === "win32" ? "windows" : platform;
  return `${os}-${arch === "arm64" ? "aarch64" : arch}`;
}

/**
 * The Bun executable that the lock file pins. Install scripts are not run, so it is the platform package's own file,
 * wherever the installer put that package; `bun` itself would be a placeholder.
 */
export async function bunPath(root: string = REPO): Promise<string> {
  const name = `bun-${bunTarget()}`;
  const executable = join("bin", platform === "win32" ? "bun.exe" : "bun");
  const direct = join(root, "node_modules", "@oven", name, executable);
  if (await exists(direct)) return direct;
  const below = join(root, "node_modules", ".deno");
  const folders = (await exists(below)) ? await readdir(below) : [];
  const prefix = `@oven+${name}@`;
  for (const folder of folders.filter((entry) => entry.startsWith(prefix)).sort().reverse()) {
    const nested = join(below, folder, "node_modules", "@oven", name, executable);
    if (await exists(nested)) return nested;
  }
  throw new Error(
    `Bun for ${bunTarget()} is not installed: package @oven/${name} is missing in ${
      join(root, "node_modules")
    }`,
  );
}
