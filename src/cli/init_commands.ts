import type { Command } from "commander";
import { EXIT } from "../errors/exit_codes.ts";
import { ReynError } from "../errors/reyn_error.ts";
import { unknownVerb, type VerbKit } from "./verb_kit.ts";

export function addInitCommands(program: Command, kit: VerbKit): Command {
  const init = kit.verb(program, "init", "begin something: a plugin");
  init.action(kit.act(async () => {
    if (init.args.length > 0) throw unknownVerb(init, init.args);
    throw new ReynError(
      "E_VERB_NOT_YET",
      "`reyn init` is part of first steps, which this version does not have yet",
      { fix: "`reyn init plugin NAME` is there", exitCode: EXIT.usage },
    );
  }));
  addInitPlugin(init, kit);
  // After its commands were made, which would inherit it.
  init.allowExcessArguments();
  return init;
}

/** `reyn init plugin NAME`, wherever `init` comes from. */
export function addInitPlugin(init: Command, { verb, act }: VerbKit): void {
  verb(init, "plugin <name>", "write the source of a new plugin to plugins/NAME")
    .option(
      "--language <language>",
      "assemblyscript (needs npx to build) or c (needs clang)",
      "assemblyscript",
    )
    .action(
      act<[string]>(async (globals, options, name) =>
        (await import("./init_plugin.ts")).initPluginVerb(globals, name, String(options["language"]))
      ),
    );
}
