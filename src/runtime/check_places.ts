import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { sessionDir } from "../config/control_paths.ts";
import type { SessionRef } from "../hooks/session_ref.ts";
import { ReynError } from "../errors/reyn_error.ts";
import { quote } from "../errors/quote.ts";

/** What reyn makes and writes in a control folder, each before what lies in it. */
const PLACES = [".reyn", ".reyn/state", ".reyn/state/lock", ".reyn/state/reyn.db", ".reyn/events"] as const;

/**
 * Refuses a control folder where a part of `.reyn` is a symlink out of it, or to nothing: two control folders would share one state,
 * or reyn would make files wherever the link says. One that leads to another place within is fine. Throws E_STATE_LINK.
 */
export function checkPlaces(controlDir: string): void {
  check(controlDir, PLACES);
}

/** As `checkPlaces`, for where the composers of a session keep what is pending. */
export function checkPendingPlaces(controlDir: string, { agent, sid }: SessionRef): void {
  const parts = sessionDir(agent, sid).split("/");
  check(controlDir, parts.map((_, at) => parts.slice(0, at + 1).join("/")));
}

function check(controlDir: string, places: readonly string[]): void {
  for (const place of places) {
    const path = join(controlDir, place);
    const target = linkTarget(path);
    if (target === undefined) continue;
    const problem = problemOf(path, controlDir);
    if (problem === undefined) continue;
    throw new ReynError("E_STATE_LINK", `${path} is a symlink to ${quote(target)}, which ${problem}`, {
      fix:
        "put a folder or file of its own in its place, or name the control folder that it belongs to with -C",
    });
  }
}

function linkTarget(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    // Not there, or not to be looked at: whoever opens it says so.
    return undefined;
  }
}

function problemOf(path: string, controlDir: string): string | undefined {
  try {
    const real = realpathSync(path);
    const root = realpathSync(controlDir);
    return root === "/" || real.startsWith(`${root}/`) ? undefined : `lies outside of the control folder`;
  } catch {
    return "leads nowhere";
  }
}
