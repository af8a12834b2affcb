import type { Command } from "commander";
import type { VerbKit } from "./verb_kit.ts";

export function addEventsCommand(program: Command, { verb, act, host }: VerbKit): void {
  verb(program, "events", "read the audit log")
    .option("--type <types>", "only these types, separated by commas")
    .option("--since <when>", "only since then: a time, or 10m, 2h")
    .option("-f, --follow", "go on as new events come")
    .action(
      act(async (globals, options) =>
        (await import("./events_verb.ts")).eventsCommand(globals, options, host)
      ),
    );
}
