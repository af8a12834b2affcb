import { existsSync, readdirSync, readFileSync } from "node:fs";
import { errorCode } from "./executable.ts";

/** One row of the system's process table. */
export interface ProcessRow {
  pid: number;
  parent: number;
  group: number;
  session: number;
  /** One letter of proc(5); Z and X are dead. */
  state: string;
  /** Start in clock ticks since boot: with the pid it tells a process from a later one of the same pid. */
  start: number;
}

/** How many processes are looked at before other work gets a turn. */
const BATCH = 200;

/** False where the system has no /proc (macOS): only process groups can be seen there. */
export function hasProcessTable(): boolean {
  return existsSync("/proc/self/stat");
}

/** Every process that still runs; zombies are left out. Throws when the table cannot be read. */
export async function runningProcesses(): Promise<ProcessRow[]> {
  const rows: ProcessRow[] = [];
  let looked = 0;
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    if (++looked % BATCH === 0) await new Promise((resolve) => setImmediate(resolve));
    const row = readProcess(Number(name));
    if (row && row.state !== "Z" && row.state !== "X") rows.push(row);
  }
  return rows;
}

/** The row of one process, a zombie's too; undefined once it is gone. Throws when it is there but cannot be read. */
export function readProcess(pid: number): ProcessRow | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch (error) {
    if (["ENOENT", "ESRCH"].includes(errorCode(error))) return undefined;
    throw error;
  }
  // The second field is the program's name in parentheses and may itself hold blanks and parentheses.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, parent, group, session] = fields;
  const start = fields[19];
  if (state === undefined || start === undefined) return undefined;
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    state,
    start: Number(start),
  };
}

/** Whether a process was started with this variable in its environment. False where that cannot be read. */
export function startedWith(pid: number, variable: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`).includes(`${variable}=`);
  } catch {
    return false;
  }
}
