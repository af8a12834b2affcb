import type { Command } from "commander";
import { unknownVerb, type VerbKit } from "./verb_kit.ts";

export function addInitCommand(program: Command, { verb, act }: VerbKit): Command {
  const init = verb(program, "init", "write a reyn.yaml to begin with");
  init.action(act(async (globals) => {
    if (init.args.length > 0) throw unknownVerb(init, init.args);
    return await (await import("./init.ts")).initVerb(globals);
  }));
  init.allowExcessArguments();
  return init;
}
