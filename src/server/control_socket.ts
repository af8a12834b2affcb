import { chmodSync, lstatSync, renameSync, rmSync, type Stats } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { ReynError } from "../errors/reyn_error.ts";

const NAME = "control.sock";
/** Of an address, its end mark included: 108 on Linux, 104 on macOS. */
const LONGEST_ADDRESS = 103;
const UNFINISHED = ".new";

export interface ControlSocket {
  path: string;
  /** Where it is to be made; named by `nameControlSocket`. */
  made: string;
}

export function controlSocketPath(stateDir: string): string {
  return join(stateDir, NAME);
}

/**
 * Makes the place of the control socket ready: its folder for us alone, and nothing in the way. Only for who holds the state
 * folder: a socket that is there then is of a process that is gone.
 */
export function prepareControlSocket(stateDir: string): ControlSocket {
  const path = controlSocketPath(stateDir);
  if (new TextEncoder().encode(path + UNFINISHED).length > LONGEST_ADDRESS) {
    throw new ReynError(
      "E_SERVER_SOCKET",
      `${path} is longer than the ${LONGEST_ADDRESS - UNFINISHED.length} bytes of an address`,
      {
        fix: "use a control folder with a shorter path, or reach it by a symlink: `-C /srv/agents`",
      },
    );
  }
  const folder = lookAt(stateDir);
  if (!folder?.isDirectory() || !isOurs(folder)) {
    throw new ReynError("E_SERVER_SOCKET", `${stateDir} is not a folder of this user`);
  }
  if ((folder.mode & 0o077) !== 0) chmodSync(stateDir, 0o700);
  const there = lookAt(path);
  if (there && !there.isSocket()) {
    throw new ReynError("E_SERVER_SOCKET", `${path} is not a socket`, { fix: "move it away" });
  }
  rmSync(path, { force: true });
  const made = `${path}${UNFINISHED}`;
  rmSync(made, { force: true });
  return { path, made };
}

/** Gives the socket its mode and then its name, so that nobody ever finds it with another mode. */
export function nameControlSocket({ path, made }: ControlSocket): void {
  chmodSync(made, 0o600);
  renameSync(made, path);
}

/** Throws E_SERVER_SOCKET unless the socket was made by this user, for this user alone. */
export function requireOwnSocket(stateDir: string): string {
  const path = controlSocketPath(stateDir);
  const folder = lookAt(stateDir);
  const socket = lookAt(path);
  if (!folder || !socket) throw new ReynError("E_SERVER_UNREACHABLE", `there is no ${path}`);
  const safe = socket.isSocket() && (socket.mode & 0o077) === 0 &&
    folder.isDirectory() && (folder.mode & 0o022) === 0 && isOfOne(socket, folder);
  if (safe) return path;
  throw new ReynError("E_SERVER_SOCKET", `${path} is not a socket of this user alone`, {
    fix: "find out who made it; nothing was sent",
  });
}

function isOurs({ uid }: Stats): boolean {
  return uid === process.getuid?.();
}

/** Root may ask the server of another user, whose folder and socket then are of one owner. */
function isOfOne(socket: Stats, folder: Stats): boolean {
  return socket.uid === folder.uid && (isOurs(socket) || process.getuid?.() === 0);
}

function lookAt(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}
