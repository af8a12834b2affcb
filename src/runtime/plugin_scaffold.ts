import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Eta } from "eta";
import { EXIT } from "../errors/exit_codes.ts";
import { quote } from "../errors/quote.ts";
import { ReynError } from "../errors/reyn_error.ts";
import * as templates from "./plugin_templates.ts";

export const PLUGIN_LANGUAGES = ["assemblyscript", "c"] as const;
export type PluginLanguage = (typeof PLUGIN_LANGUAGES)[number];

/** Also a file's name, and a word in the code. */
const NAME = /^[a-z][a-z0-9_-]{0,63}$/;
/** Files that stand beside the plugin's own. */
const TAKEN: ReadonlySet<string> = new Set(["reyn", "json"]);

export interface Scaffold {
  /** Relative to the control folder. */
  folder: string;
  /** Relative to the control folder. */
  files: string[];
  /** The command that builds the module. */
  build: string;
  /** The module that it makes, relative to the control folder. */
  module: string;
}

interface Template {
  name: string;
  /** Rendered with eta when true; else written as it is. */
  rendered: boolean;
  text: string;
  mode?: number;
}

/**
 * Writes the source of a new plugin to `plugins/NAME` of the control folder. Throws E_USAGE for a name that cannot be one, and
 * E_INIT_EXISTS, with nothing touched, where something of that name is there.
 */
export async function scaffoldPlugin(
  controlDir: string,
  name: string,
  language: PluginLanguage,
): Promise<Scaffold> {
  if (!NAME.test(name)) {
    throw new ReynError("E_USAGE", `${quote(name)} cannot be the name of a plugin`, {
      fix: "lower-case letters, digits, - and _, beginning with a letter, at most 64",
      exitCode: EXIT.usage,
    });
  }
  if (TAKEN.has(name)) {
    throw new ReynError("E_USAGE", `a plugin cannot be called ${name}`, {
      fix: "that is the name of a file beside it",
      exitCode: EXIT.usage,
    });
  }
  const folder = join("plugins", name);
  const target = join(controlDir, folder);
  const files = templatesOf(name, language);
  await makeFolder(controlDir, target, folder);
  const eta = new Eta({ autoEscape: false, autoTrim: false });
  const values = { name, assemblyscript: templates.ASSEMBLYSCRIPT_VERSION };
  try {
    for (const file of files) {
      const text = file.rendered ? eta.renderString(file.text, values) : file.text;
      await writeFile(join(target, file.name), text, { flag: "wx", mode: file.mode ?? 0o644 });
    }
  } catch (error) {
    // The folder is new, so that all in it is ours.
    await rm(target, { recursive: true, force: true });
    throw cannotWrite(folder, error);
  }
  return {
    folder,
    files: files.map((file) => join(folder, file.name)),
    build: `sh ${join(folder, "build.sh")}`,
    module: join(folder, `${name}.wasm`),
  };
}

function templatesOf(name: string, language: PluginLanguage): Template[] {
  const rendered = (file: string, text: string, mode?: number): Template => ({
    name: file,
    rendered: true,
    text,
    ...(mode === undefined ? {} : { mode }),
  });
  const copied = (file: string, text: string): Template => ({ name: file, rendered: false, text });
  switch (language) {
    case "assemblyscript":
      return [
        rendered(`${name}.ts`, templates.PLUGIN_TS),
        rendered("build.sh", templates.BUILD_ASSEMBLYSCRIPT, 0o755),
        copied("reyn.ts", templates.REYN_TS),
        copied("json.ts", templates.JSON_TS),
      ];
    case "c":
      return [
        rendered(`${name}.c`, templates.PLUGIN_C),
        rendered("build.sh", templates.BUILD_C, 0o755),
        copied("reyn.h", templates.REYN_H),
      ];
  }
}

async function makeFolder(controlDir: string, target: string, shown: string): Promise<void> {
  try {
    await mkdir(join(controlDir, "plugins"), { recursive: true });
  } catch (error) {
    throw cannotWrite("plugins", error);
  }
  try {
    await mkdir(target);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) {
      throw cannotWrite(shown, error);
    }
    throw new ReynError("E_INIT_EXISTS", `${shown} is already there`, {
      fix: "choose another name, or remove it first",
    });
  }
}

function cannotWrite(shown: string, error: unknown): ReynError {
  const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
  return new ReynError("E_FILE_WRITE", `${shown} could not be written: ${code}`);
}
