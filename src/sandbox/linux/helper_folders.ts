import os from "node:os";
import path from "node:path";
import process from "node:process";
import { account } from "../../adapter/account.ts";

/** Where the helper may be put, in the order in which the folders are tried. */
export function helperFolders(): string[] {
  const { home } = account();
  const uid = process.geteuid?.() ?? -1;
  return [path.join(home, ".reyn/helper"), path.join(os.tmpdir(), `reyn-helper-${uid}`)];
}
