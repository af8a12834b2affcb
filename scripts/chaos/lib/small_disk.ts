import { mkdir, rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runProcess } from "../../lib/run_process.ts";

/** A file system of a few MiB that can be filled. */
export interface SmallDisk {
  /** Leaves about `spare` bytes. */
  fill(spare: number): Promise<void>;
  /** Gives the space back. */
  free(): Promise<void>;
  unmount(): Promise<void>;
}

/** Mounts a tmpfs of `bytes` at `dir`; answers why not, where it cannot be done. */
export async function mountSmallDisk(dir: string, bytes: number): Promise<SmallDisk | { refused: string }> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const options = ["-t", "tmpfs", "-o", `size=${bytes},mode=0700`, "reyn-chaos", dir];
  const mounted = await runProcess("mount", options, { timeoutMs: 10_000 });
  if (mounted.code !== 0) return { refused: mounted.output.trim() || `mount ended with ${mounted.code}` };
  const filler = join(dir, "filler");
  return {
    async fill(spare) {
      const { bavail, bsize } = await statfs(dir);
      const wanted = Math.max(0, Number(bavail) * Number(bsize) - spare);
      await writeFile(filler, new Uint8Array(wanted)).catch(() => {
        // Something else was quicker: the disk is full all the same.
      });
    },
    free: () => rm(filler, { force: true }),
    async unmount() {
      await runProcess("umount", [dir], { timeoutMs: 10_000 });
    },
  };
}
