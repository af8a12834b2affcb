import type { Command } from "commander";
import type { VerbKit } from "./verb_kit.ts";

/** Adds the verbs of `reyn hooks` that are about decision hooks only. */
export function addDecisionCommands(hooks: Command, { verb, act, host }: VerbKit): void {
  verb(hooks, "test <name>", "ask one decision hook, and show what it decides")
    .requiredOption("--point <point>", "the decision point")
    .option("--data <json>", "fields of the context, as JSON or @file; the rest is made up")
    .action(
      act<[string]>(async (globals, options, name) => {
        const { testHookVerb } = await import("./hooks_test.ts");
        return await testHookVerb({ globals, name, point: options["point"], data: options["data"] }, host);
      }),
    );
  verb(hooks, "doctor", "load every decision hook, and see whether the services answer")
    .action(act(async (globals) => (await import("./hooks_doctor.ts")).hooksDoctorVerb(globals, host)));
}
