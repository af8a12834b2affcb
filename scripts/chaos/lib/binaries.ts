import { constants, copyFile, mkdir, mkdtemp, rm, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { env } from "node:process";
import { exists, REPO } from "../../lib/repo.ts";

export interface Binaries {
  reyn: string;
  /** With kill points. */
  reynTest: string;
  /** Where suites make their folders. */
  scratch: string;
  remove(): Promise<void>;
}

/**
 * Copies of the binaries that `REYN_BIN` and `REYN_TEST_BIN` name, by default those of `dist/`: a build that happens
 * meanwhile must not look like a crash.
 */
export async function pinBinaries(): Promise<Binaries> {
  const reyn = env["REYN_BIN"] ?? join(REPO, "dist", "reyn");
  const reynTest = env["REYN_TEST_BIN"] ?? join(dirname(reyn), "reyn-test");
  for (const path of [reyn, reynTest]) {
    if (!await exists(path)) throw new Error(`${path} is missing: build it with \`deno task compile\``);
  }
  const scratch = await mkdtemp(join(tmpdir(), "reyn-chaos-"));
  const bin = join(scratch, "bin");
  await mkdir(bin);
  const pinned = { reyn: join(bin, "reyn"), reynTest: join(bin, "reyn-test") };
  await copyFile(reyn, pinned.reyn, constants.COPYFILE_FICLONE);
  await copyFile(reynTest, pinned.reynTest, constants.COPYFILE_FICLONE);
  return {
    ...pinned,
    scratch,
    async remove() {
      await rm(bin, { recursive: true, force: true });
      // Only when it is empty: folders of violations are kept.
      await rmdir(scratch).catch(() => {});
    },
  };
}
