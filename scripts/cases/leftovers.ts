import { readdir, readFile, readlink } from "node:fs/promises";
import { kill, pid as ownPid } from "node:process";

export interface Found {
  pid: number;
  command: string;
}

/**
 * Live processes that belong to a case: something in their environment, or their working directory, lies in the
 * folder of the case, which no other process knows. Reads /proc, so it finds nothing where there is none.
 */
export async function processesOf(folder: string): Promise<Found[]> {
  const found: Found[] = [];
  const names = await readdir("/proc").catch(() => []);
  for (const name of names) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === ownPid) continue;
    const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
    const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => "");
    if (!environment.includes(folder) && cwd !== folder && !cwd.startsWith(`${folder}/`)) continue;
    if (await isGone(pid)) continue;
    const command = (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).replaceAll("\0", " ")
      .trim();
    found.push({ pid, command: command || `(process ${pid})` });
  }
  return found;
}

/** Whether a process has ended; one that waits to be collected has. */
export async function isGone(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "");
  const state = stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3);
  return state === "" || state === "Z" || state === "X";
}

/** Kills by pid, and again what was started meanwhile. */
export async function killAllOf(folder: string): Promise<void> {
  for (let round = 0; round < 20; round++) {
    const found = await processesOf(folder);
    if (found.length === 0) return;
    for (const { pid } of found) sendSignal(pid, "SIGKILL");
    await new Promise((resolve) => setTimeout(resolve, 10 * (round + 1)));
  }
}

/** False when there is no such process any more. */
export function sendSignal(pid: number, signal: string): boolean {
  try {
    kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}

/** The one child that a process has, when it has come up. */
export async function childOf(pid: number): Promise<number | undefined> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, "latin1").catch(() => "");
  const first = Number(children.trim().split(" ")[0]);
  return first > 0 ? first : undefined;
}
