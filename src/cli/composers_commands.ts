import type { Command } from "commander";
import { unknownVerb, type VerbKit } from "./verb_kit.ts";

export function addComposersCommands(program: Command, { verb, act, host }: VerbKit): Command {
  const composers = verb(program, "composers", "list composers with what they hold, or simulate them");
  composers.action(act(async (globals) => {
    if (composers.args.length > 0) throw unknownVerb(composers, composers.args);
    return await (await import("./composers.ts")).listComposersVerb(globals, host);
  }));
  verb(composers, "list", "list composers: what is pending and when it is due, fires, drops")
    .action(act(async (globals) => (await import("./composers.ts")).listComposersVerb(globals, host)));
  verb(composers, "simulate <file>", "replay a timeline of events, and print every fire and every drop")
    .option("--until <seconds>", "stop then (default: when nothing is due any more)")
    .addHelpText(
      "after",
      '\nFILE (or -) holds one event a line, in order of time: {"at": seconds, "kind": "turn_end", "payload": {…}}.\n' +
        'Each line that is printed is {"at", "event": "fired" or "dropped", "composer", "correlation_key", …}.',
    )
    .action(act<[string]>(async (globals, options, file) => {
      const until = options["until"];
      return await (await import("./composers.ts")).simulateVerb(
        globals,
        file,
        typeof until === "string" ? until : undefined,
      );
    }));

  verb(program, "test [name]", "run the tests of the configuration: events in, fires and pushes out")
    .addHelpText(
      "after",
      "\nRuns what `tests:` in reyn.yaml declares; with a name, only that test. Nothing is started.",
    )
    .action(
      act<[string | undefined]>(async (globals, _options, name) =>
        (await import("./test.ts")).testVerb(globals, name)
      ),
    );

  // After its commands were made, which would inherit it.
  composers.allowExcessArguments();
  return composers;
}
