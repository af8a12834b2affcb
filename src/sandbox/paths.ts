import path from "node:path";
import { plainPath } from "../config/canonical_path.ts";

export { canonicalPath, isUnder } from "../config/canonical_path.ts";

export interface PathBase {
  controlDir: string;
  homes: readonly string[];
}

/** The absolute paths that a path of the operator's stands for: one for each home when it starts with `~`. */
export function expandPath(text: string, base: PathBase): string[] {
  if (text === "~" || text.startsWith("~/")) {
    return [...new Set(base.homes.map((home) => plainPath(path.join(home, text.slice(1)))))];
  }
  return [plainPath(path.resolve(base.controlDir, text))];
}
