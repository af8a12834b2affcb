import process from "node:process";
import { didYouMean } from "../config/suggest.ts";
import { EXIT } from "../errors/exit_codes.ts";
import { quote } from "../errors/quote.ts";
import { ReynError } from "../errors/reyn_error.ts";
import { PLUGIN_LANGUAGES, type PluginLanguage, scaffoldPlugin } from "../runtime/plugin_scaffold.ts";
import { controlDir } from "./control_dir.ts";
import type { GlobalOptions } from "./host.ts";

/** `reyn init plugin NAME`: writes a plugin's source, and says what to do next. */
export async function initPluginVerb(
  globals: GlobalOptions,
  name: string,
  language: string,
): Promise<number> {
  const made = await scaffoldPlugin(controlDir(globals.dir), name, languageOf(language));
  const hook = [
    "hooks:",
    "  - on: turn_end",
    `    name: ${name}`,
    `    exec_capture: [${made.module}]`,
  ].join("\n");
  const next = [made.build, "reyn check", `reyn hooks allow ${name}`];
  if (globals.json) {
    process.stdout.write(`${JSON.stringify({ ...made, language, hook, next })}\n`);
    return EXIT.ok;
  }
  process.stdout.write(`${made.files.join("\n")}\n`);
  if (!globals.quiet) {
    process.stderr.write(
      [
        "",
        `Build it:              ${made.build}`,
        "Declare it in reyn.yaml:",
        ...hook.split("\n").map((line) => `  ${line}`),
        `Check and approve it:  reyn check && reyn hooks allow ${name}`,
        "",
      ].join("\n"),
    );
  }
  return EXIT.ok;
}

function languageOf(text: string): PluginLanguage {
  const found = PLUGIN_LANGUAGES.find((language) => language === text);
  if (found) return found;
  throw new ReynError("E_USAGE", `--language ${quote(text)} is not one that a plugin can be begun in`, {
    fix: didYouMean(text, PLUGIN_LANGUAGES) ?? `one of ${PLUGIN_LANGUAGES.join(", ")}`,
    exitCode: EXIT.usage,
  });
}
