import type { Command } from "commander";
import { isDecisionPoint } from "../points/decisions.ts";
import { addDecisionCommands } from "./decision_commands.ts";
import { unknownVerb, type VerbKit } from "./verb_kit.ts";

export function addHooksCommands(program: Command, kit: VerbKit): Command {
  const { verb, act, host } = kit;
  const hooks = verb(program, "hooks", "list hooks, approve them, try them out");
  hooks.action(act(async (globals) => {
    if (hooks.args.length > 0) throw unknownVerb(hooks, hooks.args);
    return await (await import("./hooks_list.ts")).listHooksVerb(globals);
  }));
  verb(hooks, "list", "list hooks with their layer, consent, counts and last outcome")
    .action(act(async (globals) => (await import("./hooks_list.ts")).listHooksVerb(globals)));
  verb(hooks, "points", "list every reaction and decision point with its fields")
    .action(act(async (globals) => (await import("./hooks_points.ts")).hooksPointsVerb(globals)));
  verb(hooks, "allow <name>", "approve exactly what a hook's command is now, and show it")
    .action(
      act<[string]>(async (globals, _options, name) =>
        (await import("./hooks_consent.ts")).allowHookVerb(globals, name, host)
      ),
    );
  verb(hooks, "revoke <name>", "take back what was approved for a hook here")
    .action(
      act<[string]>(async (globals, _options, name) =>
        (await import("./hooks_consent.ts")).revokeHookVerb(globals, name)
      ),
    );
  for (const [word, on] of [["enable", true], ["disable", false]] as const) {
    verb(hooks, `${word} <name>`, `${word} a hook in one session`)
      .action(
        act<[string]>(async (globals, _options, name) =>
          (await import("./hooks_switch.ts")).switchHookVerb(globals, name, on, host)
        ),
      );
  }
  verb(hooks, "fire <point>", "show what the hooks of a point would do, and run none")
    .option("--data <json>", "fields of the event, as JSON or @file; the rest is made up")
    .option(
      "--run",
      "really run them: what they push is put in the session's inbox; at a decision point, really ask them",
    )
    .action(
      act<[string]>(async (globals, options, point) => {
        const data = options["data"];
        const run = options["run"] === true;
        if (isDecisionPoint(point)) {
          const { fireDecisionVerb } = await import("./hooks_fire_decision.ts");
          return await fireDecisionVerb({ globals, point, data, run }, host);
        }
        const { fireHooksVerb } = await import("./hooks_fire.ts");
        return await fireHooksVerb({
          globals,
          point,
          data: typeof data === "string" ? data : undefined,
          run,
        }, host);
      }),
    );
  addDecisionCommands(hooks, kit);
  // After its commands were made, which would inherit it.
  hooks.allowExcessArguments();
  return hooks;
}
