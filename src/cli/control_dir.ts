import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { ReynError } from "../errors/reyn_error.ts";

/** The control folder as an absolute path. However it is reached, by a link or not, it is one folder, as for consent and trust. */
export function controlDir(dir: string): string {
  if (dir === "") {
    throw new ReynError("E_USAGE", "-C names no folder", { fix: "-C takes the control folder", exitCode: 2 });
  }
  const path = absolute(dir);
  let isFolder = false;
  try {
    isFolder = statSync(path).isDirectory();
  } catch {
    throw new ReynError("E_USAGE", `there is no folder ${path}`, {
      fix: "-C takes the control folder",
      exitCode: 2,
    });
  }
  if (!isFolder) {
    throw new ReynError("E_USAGE", `${path} is not a folder`, {
      fix: "-C takes the control folder",
      exitCode: 2,
    });
  }
  return realpathSync(path);
}

function absolute(dir: string): string {
  try {
    return resolve(dir);
  } catch {
    // Only what has to be joined to the working directory asks for it.
    throw new ReynError("E_USAGE", "the working directory does not exist any more", {
      fix: "change into a folder that exists, or name the control folder with -C and an absolute path",
      exitCode: 2,
    });
  }
}
