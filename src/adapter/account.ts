import { readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { isAbsolute } from "node:path";
import process from "node:process";

export interface Account {
  name: string;
  /** Absolute; `/` where nothing tells. */
  home: string;
}

/**
 * The account that this process acts as, by the system's own records: a runtime may take the home from the environment,
 * which whoever starts the process sets.
 */
export function account(): Account {
  const recorded = fromPasswd(process.geteuid?.());
  if (recorded) return recorded;
  try {
    const { username, homedir } = userInfo();
    return { name: username, home: isAbsolute(homedir) ? homedir : "/" };
  } catch {
    return { name: "", home: "/" };
  }
}

function fromPasswd(uid: number | undefined): Account | undefined {
  if (uid === undefined) return undefined;
  try {
    for (const line of readFileSync("/etc/passwd", "utf8").split("\n")) {
      const [name = "", , id, , , home = ""] = line.split(":");
      if (Number(id) === uid && id !== "" && isAbsolute(home)) return { name, home };
    }
  } catch {
    // macOS keeps its accounts elsewhere; then the runtime knows.
  }
  return undefined;
}
