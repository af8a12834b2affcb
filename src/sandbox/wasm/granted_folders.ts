import { statSync } from "node:fs";
import { quote } from "../../errors/quote.ts";
import { canonicalPath, expandPath, type PathBase } from "../paths.ts";
import type { GrantedFolder } from "./protocol.ts";

export type Folders = { ok: true; folders: GrantedFolder[] } | { ok: false; reason: string };

/**
 * The folders that a plugin is granted, as they are now: a plugin knows each by the path as the operator wrote it, `~` written out. One that
 * is granted for writing may be read as well.
 */
export function grantedFolders(
  { readPaths, writePaths }: { readPaths: readonly string[]; writePaths: readonly string[] },
  base: PathBase,
): Folders {
  const folders: GrantedFolder[] = [];
  const all = [
    ...writePaths.map((text) => ({ text, write: true, key: "write_paths" })),
    ...readPaths.map((text) => ({ text, write: false, key: "read_paths" })),
  ];
  for (const { text, write, key } of all) {
    // What is granted is in the home that commands have as HOME.
    const [expanded = text] = expandPath(text, base);
    const host = canonicalPath(expanded);
    const info = statOf(host);
    if (info !== "folder") {
      return {
        ok: false,
        reason: `${key}: ${quote(text)} ${info === "none" ? "does not exist" : "is not a folder"}`,
      };
    }
    const guest = text === "~" || text.startsWith("~/") ? expanded : plainName(text);
    if (!folders.some((one) => one.guest === guest)) folders.push({ guest, host, write });
  }
  return { ok: true, folders };
}

function plainName(text: string): string {
  const name = text.replace(/^(\.\/)+/, "").replace(/\/+$/, "");
  return name === "" ? (text.startsWith("/") ? "/" : ".") : name;
}

function statOf(file: string): "folder" | "other" | "none" {
  try {
    return statSync(file).isDirectory() ? "folder" : "other";
  } catch {
    return "none";
  }
}
