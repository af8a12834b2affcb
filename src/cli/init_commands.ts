import type { Command } from "commander";
import { unknownVerb, type VerbKit } from "./verb_kit.ts";

export function addInitCommands(program: Command, kit: VerbKit): Command {
  const init = kit.verb(program, "init", "write a reyn.yaml to begin with, or begin a plugin");
  init.action(kit.act(async (globals) => {
    if (init.args.length > 0) throw unknownVerb(init, init.args);
    return await (await import("./init.ts")).initVerb(globals);
  }));
  addInitPlugin(init, kit);
  // After its commands were made, which would inherit it.
  init.allowExcessArguments();
  return init;
}

/** `reyn init plugin NAME`. */
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
