import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import { ReynError } from "../../errors/reyn_error.ts";
import { refusedWrite, unwritable } from "../refused_write.ts";

/** What kind of trouble an error of `node:sqlite` is, as far as the store acts differently on it. */
export type Trouble = "busy" | "full" | "io" | "readonly" | "corrupt" | "other";

const BY_CODE: Record<number, Trouble> = {
  5: "busy",
  6: "busy",
  7: "io",
  8: "readonly",
  10: "io",
  11: "corrupt",
  13: "full",
  14: "io",
  26: "corrupt",
};

/** One runtime gives no result code, only SQLite's own English text, which never changes with the locale. */
const BY_MESSAGE: readonly (readonly [RegExp, Trouble])[] = [
  [/database (table )?(schema )?is locked/, "busy"],
  [/database or disk is full/, "full"],
  [/disk image is malformed|malformed database schema|is not a database/, "corrupt"],
  [/readonly database/, "readonly"],
  [/disk I\/O error|unable to open database|out of memory|locking protocol/, "io"],
];

/** What the file system says where SQLite was not asked. */
const FULL: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT"]);

export function troubleOf(error: unknown): Trouble {
  if (!(error instanceof Error)) return "other";
  const code: unknown = Reflect.get(error, "errcode");
  if (typeof code === "number") return BY_CODE[code & 0xff] ?? "other";
  if (FULL.has(Reflect.get(error, "code"))) return "full";
  if (Reflect.get(error, "code") !== "ERR_SQLITE_ERROR") return "other";
  return BY_MESSAGE.find(([pattern]) => pattern.test(error.message))?.[1] ?? "other";
}

/** The operator's view of a failure at `path`; a ReynError passes unchanged. */
export function stateError(error: unknown, path: string): ReynError {
  if (error instanceof ReynError) return error;
  const said = error instanceof Error ? error.message : String(error);
  const trouble = troubleOf(error);
  // On a full disk some of SQLite's files fail with an I/O error of their own instead.
  switch (trouble === "io" && noSpaceAt(path) ? "full" : trouble) {
    case "full":
      return new ReynError("E_STATE_FULL", `${path}: ${said}; what was being stored is not stored`, {
        fix: "free space on that disk; nothing stored before is harmed",
        cause: error,
      });
    case "corrupt":
      return new ReynError("E_STATE_CORRUPT", `${path}: ${said}`, {
        fix: "stop reyn and start it again: the start examines the file and sets it aside if it is damaged",
        cause: error,
      });
    case "busy":
      return new ReynError("E_STATE_IO", `${path}: ${said}`, {
        fix: "another process has kept the store locked; find it and end it",
        cause: error,
      });
    case "readonly":
      return refusedWrite(dirname(path), error) ?? unwritable(path, said, error);
    case "io":
    case "other":
      return refusedWrite(dirname(path), error) ??
        new ReynError("E_STATE_IO", `${path}: ${said}`, { cause: error });
  }
}

const LITTLE_SPACE = 128 * 1024;

function noSpaceAt(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize < LITTLE_SPACE;
  } catch {
    return false;
  }
}
