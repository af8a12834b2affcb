import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { isSeq, parseDocument } from "yaml";
import { sessionFile } from "../config/control_paths.ts";
import { readTextFile } from "../config/read_file.ts";
import { didYouMean } from "../config/suggest.ts";
import { quote } from "../errors/quote.ts";
import { ReynError } from "../errors/reyn_error.ts";
import type { Configuration } from "./configuration.ts";

export interface SwitchHookOptions {
  configuration: Configuration;
  controlDir: string;
  name: string;
  on: boolean;
  /** Tells apart what several processes write. */
  unique: string;
}

/**
 * Switches a hook off, or on again, for one session: its name goes on, or off, the `disabled:` list of the session's own layer.
 * What else the file holds, comments too, stays. Counts from the next start of the session.
 */
export async function switchHook(options: SwitchHookOptions): Promise<{ file: string; changed: boolean }> {
  const { configuration, controlDir, name, on, unique } = options;
  const { agent, sid } = configuration;
  requireSwitchable(configuration, name, on);
  const { path, shown } = sessionFile(controlDir, agent, sid);
  const read = readTextFile(path, shown);
  if (read.state === "failed") throw new ReynError(read.finding.code, `${shown} ${read.finding.message}`);
  const document = parseDocument(read.state === "text" ? read.text : "");
  const [error] = document.errors;
  if (error) {
    throw new ReynError("E_YAML_SYNTAX", `${shown} cannot be edited: ${error.message.split("\n")[0] ?? ""}`);
  }
  const list = document.get("disabled");
  if (list !== undefined && list !== null && !isSeq(list)) {
    throw new ReynError("E_CONFIG_TYPE", `${shown} cannot be edited: disabled is no list`);
  }
  const names = isSeq(list) ? (list.toJSON() as unknown[]) : [];
  const at = names.findIndex((one) => typeof one === "string" && one.trim() === name);
  if ((at === -1) === on) return { file: shown, changed: false };
  if (!on) {
    if (isSeq(list)) list.add(name);
    else document.set("disabled", [name]);
  } else if (names.length === 1) document.delete("disabled");
  else document.deleteIn(["disabled", at]);
  await replaceFile(path, document.toString(), unique);
  return { file: shown, changed: true };
}

function requireSwitchable({ hooks, disabled }: Configuration, name: string, on: boolean): void {
  const hook = hooks.find((one) => one.name === name);
  if (hook && on && !hook.enabled) {
    throw new ReynError(
      "E_HOOK_UNKNOWN",
      `${quote(name)} is disabled where it is declared, in the ${hook.layer} layer`,
      {
        fix: "take `enabled: false` out of its entry",
      },
    );
  }
  if (hook || (on && disabled.has(name))) return;
  const names = hooks.flatMap((one) => one.name ?? []);
  throw new ReynError("E_HOOK_UNKNOWN", `no hook has the name ${quote(name)}`, {
    fix: didYouMean(name, names) ??
      `a hook without a name cannot be switched; names: ${names.join(", ") || "none"}`,
  });
}

/** Whoever reads the file sees the old text or the new one, also after a crash. */
async function replaceFile(path: string, text: string, unique: string): Promise<void> {
  const next = `${path}.${unique}.new`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const file = await open(next, "wx", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(next, path);
  } catch (error) {
    await rm(next, { force: true }).catch(() => {});
    const said = error instanceof Error ? error.message : String(error);
    throw new ReynError("E_FILE_UNREADABLE", `${path} cannot be written: ${said}`);
  }
}
