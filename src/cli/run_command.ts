import type { Command } from "commander";
import type { VerbKit } from "./verb_kit.ts";

export function addRunCommand(program: Command, { verb, act, host }: VerbKit): void {
  verb(program, "run [message]", "run a session until nothing is left to do")
    .option("--file <file>", "read the message from a file")
    .addHelpText(
      "after",
      "\n`-` as the message reads it from stdin. Without a message, what is queued or was interrupted is run.",
    )
    .action(act<[string | undefined]>(async (globals, options, message) => {
      const { runVerb } = await import("./run.ts");
      const file = options["file"];
      return await runVerb({ globals, message, file: typeof file === "string" ? file : undefined }, host);
    }));
}
