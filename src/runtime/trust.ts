import { realpathSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import type { Clock } from "../clock/clock.ts";
import { systemClock } from "../clock/clock.ts";
import { projectTrust, type Trust } from "../consent/trust.ts";
import { openTrustFile, type TrustFile } from "../consent/trust_file.ts";
import { homeFolder } from "./surroundings.ts";

export interface ControlFolderTrust {
  trust: Trust;
  file: TrustFile;
}

/** What the operator trusts of a control folder, from `~/.reyn/trust.json`. Nothing is read before it is asked. */
export function trustOf(controlDir: string, clock: Clock = systemClock): ControlFolderTrust {
  const file = openTrustFile({ path: join(homeFolder(controlDir), ".reyn", "trust.json"), clock });
  const trust = projectTrust(file, { folder: canonical(controlDir), searchPath: process.env["PATH"] });
  return { trust, file };
}

/** However a folder is reached, it is one project. */
function canonical(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}
