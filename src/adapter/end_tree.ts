import process from "node:process";
import type { Clock } from "../clock/clock.ts";
import {
  hasProcessTable,
  type ProcessRow,
  readProcess,
  runningProcesses,
  startedWith,
} from "./process_table.ts";

/** A process that leads its own group and session, and whatever came from it. */
export interface TreeRoot {
  pid: number;
  /** Start of the leader, where the process table tells it. */
  start: number | undefined;
  /** Name of a variable that only this tree has in its environment. */
  marker: string;
}

/** Rounds of SIGKILL before giving up on what does not die: a process inside the kernel cannot be ended. */
const KILL_ROUNDS = 60;
const SLOWEST_POLL_MS = 50;

export function treeRoot(pid: number, marker: string): TreeRoot {
  try {
    return { pid, start: hasProcessTable() ? readProcess(pid)?.start : undefined, marker };
  } catch {
    return { pid, start: undefined, marker };
  }
}

/**
 * Ends the whole tree: SIGTERM, `graceMs` on the clock, then SIGKILL until nothing is left. Gives the number of
 * processes that even so still run, 0 nearly always. Never throws: where the process table cannot be read the group is
 * ended. Polls are real time, for what they wait on is the system. `hurry`, once aborted, ends the grace.
 */
export async function endTree(
  root: TreeRoot,
  clock: Clock,
  graceMs: number,
  hurry?: AbortSignal,
): Promise<number> {
  const members = membersOf(root);
  let left = await members();
  if (left.length === 0) return 0;

  signalAll(root, left, "SIGTERM");
  let graceOver = graceMs <= 0;
  const cancel = clock.after(graceMs, () => (graceOver = true));
  try {
    for (let round = 0; left.length > 0 && !graceOver && !hurry?.aborted; round++) {
      await pause(round);
      left = await members();
    }
  } finally {
    cancel();
  }

  for (let round = 0; left.length > 0 && round < KILL_ROUNDS; round++) {
    signalAll(root, left, "SIGKILL");
    await pause(round);
    left = await members();
  }
  return left.length;
}

type Member = Pick<ProcessRow, "pid" | "group">;

function membersOf(root: TreeRoot): () => Promise<Member[]> {
  const fromTable = tableMembers(root);
  const fromGroup = () => send(-root.pid, 0) ? [{ pid: root.pid, group: root.pid }] : [];
  return async () => {
    if (!hasProcessTable()) return fromGroup();
    try {
      return await fromTable();
    } catch {
      return fromGroup();
    }
  };
}

/**
 * Finds who belongs to the tree: the leader's group and session, every descendant, and whoever has left all of these
 * but was started with the marker. Who was found once stays a member when its parent goes.
 */
function tableMembers(root: TreeRoot): () => Promise<Member[]> {
  const known = new Map<number, number>();
  return async () => {
    const rows = (await runningProcesses()).filter((row) =>
      row.pid > 1 && row.pid !== process.pid && row.start >= (root.start ?? 0)
    );
    const pidTaken = rows.some((row) =>
      row.pid === root.pid && root.start !== undefined && row.start !== root.start
    );
    const found = new Map<number, ProcessRow>();
    for (const row of rows) {
      const inGroup = !pidTaken &&
        (row.pid === root.pid || row.group === root.pid || row.session === root.pid);
      if (inGroup || known.get(row.pid) === row.start || startedWith(row.pid, root.marker)) {
        found.set(row.pid, row);
      }
    }
    for (let size = -1; size !== found.size;) {
      size = found.size;
      for (const row of rows) if (found.has(row.parent)) found.set(row.pid, row);
    }
    for (const row of found.values()) known.set(row.pid, row.start);
    return [...found.values()];
  };
}

function signalAll(root: TreeRoot, members: readonly Member[], signal: "SIGTERM" | "SIGKILL"): void {
  // To the group at once, so that none of it can fork away between two signals.
  if (members.some((member) => member.group === root.pid)) send(-root.pid, signal);
  for (const member of members) if (member.group !== root.pid) send(member.pid, signal);
}

/** False when nobody was there to be signalled. */
function send(pid: number, signal: "SIGTERM" | "SIGKILL" | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

function pause(round: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.min(2 ** Math.min(round, 6), SLOWEST_POLL_MS)));
}
