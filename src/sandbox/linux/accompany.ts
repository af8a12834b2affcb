import { spawn } from "node:child_process";
import process from "node:process";
import { systemClock } from "../../clock/clock.ts";
import { loadHelper } from "./helper_bytes.ts";
import { helperFolders } from "./helper_folders.ts";
import { type InstalledHelper, installHelper } from "./install_helper.ts";

/** The trial is a process that ends at once. Real time. */
const TRIAL_MS = 5000;

let helper: Promise<InstalledHelper | undefined> | undefined;

/**
 * The words that start a program, so that it and all that came from it end when this process does, however that happens. It
 * is not confined and has all that it would have. Where this cannot be had, on another system or without the helper, they
 * are the words as given.
 */
export async function accompanied(
  argv: readonly [string, ...string[]],
): Promise<readonly [string, ...string[]]> {
  if (process.platform !== "linux") return argv;
  const { executable } = await (helper ??= findHelper()) ?? {};
  return executable === undefined ? argv : [executable, ...accompany(argv)];
}

function accompany(argv: readonly string[]): string[] {
  return ["--accompany", String(process.pid), "--", ...argv];
}

/** It is held open for as long as this process lives: its file may be replaced meanwhile. */
async function findHelper(): Promise<InstalledHelper | undefined> {
  const loaded = await loadHelper(process.arch);
  if (!loaded.ok) return undefined;
  for (const folder of helperFolders()) {
    const install = installHelper(loaded.helper, folder);
    if (!install.ok) continue;
    if (await isWorking(install.installed)) return install.installed;
    install.installed.close();
  }
  return undefined;
}

/** Has it accompany itself, asked for something that it does not know: a folder may let nothing execute, a kernel lack a call. */
function isWorking({ executable }: InstalledHelper): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(executable, accompany([executable, "--unknown"]), {
      stdio: ["ignore", "ignore", "pipe"],
    });
    let said = "";
    const cancel = systemClock.after(TRIAL_MS, () => child.kill("SIGKILL"));
    child.stderr.on("data", (chunk: Uint8Array) => (said += String(chunk)));
    child.on("error", () => {});
    child.on("close", () => {
      cancel();
      resolve(said.includes('"stage":"usage"'));
    });
  });
}
