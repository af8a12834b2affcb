import { statSync } from "node:fs";
import process from "node:process";
import { type Clock, sleep } from "../clock/clock.ts";
import { operatorFile, startupFiles } from "../config/control_paths.ts";
import { isReynError } from "../errors/reyn_error.ts";
import { stateDir } from "../runtime/places.ts";
import { homeFolder } from "../runtime/surroundings.ts";
import { connectServer, type ServerClient } from "../server/client.ts";
import { findServer } from "../server/find_server.ts";
import { lockHolder } from "../store/state_lock.ts";
import type { GlobalOptions } from "./host.ts";

/** How long a listing waits for a server before it reads the disk instead. */
const PATIENCE_MS = 3_000;
/** How often it is looked whether a server has come or gone. */
const LOOK_MS = 1_000;

/** Says on stderr where an answer came from. */
export function tellSource({ quiet }: Pick<GlobalOptions, "quiet">, text: string): void {
  if (!quiet) process.stderr.write(`(${text})\n`);
}

/** Who works on the control folder. */
export function whoRuns(controlDir: string): string {
  const holder = lockHolder(stateDir(controlDir));
  return holder ? `reyn ${holder.verb}, pid ${holder.pid}, works on it` : "no server runs";
}

/**
 * What a server answers, where one runs and answers soon; else what the disk says. Either way with words that tell which it was.
 */
export async function askOrRead<T>(
  controlDir: string,
  clock: Clock,
  { ask, read, from }: {
    ask: (client: ServerClient) => Promise<T>;
    read: () => Promise<T>;
    /** What is read: `the store`. */
    from: string;
  },
): Promise<{ value: T; source: string }> {
  let why = "";
  try {
    const client = await connectServer(controlDir, clock, { patienceMs: PATIENCE_MS });
    if (client) return { value: await ask(client), source: `asked reyn serve, pid ${client.pid}` };
  } catch (error) {
    if (!isReynError(error) || !error.code.startsWith("E_SERVER_")) throw error;
    why = error.message;
  }
  const value = await read();
  if (why !== "") return { value, source: `read from ${from}: ${why}` };
  return { value, source: `read from ${from}; ${whoRuns(controlDir)}` };
}

/** The files of the start that were changed since the server that runs has read them. */
export function changedSinceStart(controlDir: string): { pid: number; files: string[] } | undefined {
  const server = findServer(controlDir);
  if (!server) return undefined;
  const { base, local } = startupFiles(controlDir);
  const changed = [operatorFile(homeFolder(controlDir)), base, local]
    .filter(({ path }) => changedAt(path) > server.startedAt);
  return { pid: server.pid, files: changed.map(({ shown }) => shown) };
}

/** Tells of servers that come and go, until the signal aborts. */
export async function watchServer(
  controlDir: string,
  clock: Clock,
  signal: AbortSignal,
  tell: (text: string) => void,
): Promise<void> {
  let pid = findServer(controlDir)?.pid;
  while (await sleep(clock, LOOK_MS, signal)) {
    const now = findServer(controlDir)?.pid;
    if (now === pid) continue;
    if (pid !== undefined) tell(`reyn serve, pid ${pid}, is gone`);
    if (now !== undefined) tell(`reyn serve, pid ${now}, works on it now`);
    pid = now;
  }
}

function changedAt(path: string): number {
  try {
    return statSync(path, { throwIfNoEntry: false })?.ctimeMs ?? 0;
  } catch {
    return 0;
  }
}
