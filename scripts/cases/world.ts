import { chmod, cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { exists } from "../lib/repo.ts";
import { type AuditLog, auditLog } from "./audit_log.ts";
import { killAllOf } from "./leftovers.ts";
import type { Running } from "./processes.ts";
import { contentBytes, type FileSpec } from "./values.ts";

/** The folders in which one run of a case happens, and what was started there. */
export interface World {
  /** Everything of this run lies below it; its name is unique. */
  base: string;
  control: string;
  home: string;
  caseFolder: string;
  binary: string;
  log: AuditLog;
  env: Record<string, string>;
  background: Map<string, Running>;
}

export interface WorldOptions {
  caseFolder: string;
  binary: string;
  /** Whether processes run on a test clock, each from the same instant. */
  testClock: boolean;
}

const SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Worlds whose processes still have to be ended should the runner itself be stopped. */
const open = new Set<string>();

export async function makeWorld({ caseFolder, binary, testClock }: WorldOptions): Promise<World> {
  const base = await mkdtemp(join(tmpdir(), "reyn-case-"));
  open.add(base);
  const [control, home, temp] = [join(base, "control"), join(base, "home"), join(base, "tmp")];
  for (const folder of [control, home, temp]) await mkdir(folder);
  const given = join(caseFolder, "files");
  if (await exists(given)) await cp(given, control, { recursive: true, verbatimSymlinks: true });
  const env = {
    PATH: SEARCH_PATH,
    HOME: home,
    TMPDIR: temp,
    LANG: "C.UTF-8",
    TZ: "UTC",
    REYN_CASE: base,
  };
  const log = auditLog(control, testClock ? "process" : "time");
  return { base, control, home, caseFolder, binary, log, env, background: new Map() };
}

export async function removeWorld(world: World, keepFiles: boolean): Promise<void> {
  await killAllOf(world.base);
  open.delete(world.base);
  if (!keepFiles) await rm(world.base, { recursive: true, force: true, maxRetries: 3 });
}

/** Ends what open worlds started; for when the runner is stopped. */
export async function closeWorlds(): Promise<void> {
  for (const base of [...open]) {
    await killAllOf(base);
    await rm(base, { recursive: true, force: true });
    open.delete(base);
  }
}

/** A path of a case: below the control folder, or below the home folder after `~/`. It stays within the world. */
export function pathIn(world: World, path: string, from: string = world.control): string {
  const home = path === "~" || path.startsWith("~/");
  const found = home ? resolve(world.home, path.slice(2)) : resolve(from, path);
  if (found !== world.base && !found.startsWith(`${world.base}/`)) {
    throw new Error(`${path} lies outside the folders of the case`);
  }
  return found;
}

export async function placeFile(world: World, path: string, spec: FileSpec): Promise<void> {
  const target = pathIn(world, path);
  await mkdir(dirname(target), { recursive: true });
  if (spec.symlink !== undefined) await symlink(spec.symlink, target);
  else if (spec.folder) await mkdir(target, { recursive: true });
  else await writeFile(target, await contentBytes(spec, world.caseFolder));
  if (spec.mode !== undefined) await chmod(target, spec.mode);
}

/** A port of 127.0.0.1 that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", () => listening()));
  const address = server.address();
  await new Promise<void>((closed) => server.close(() => closed()));
  return typeof address === "object" && address ? address.port : 0;
}
