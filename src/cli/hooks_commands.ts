import type { Command } from "commander";
import { EXIT } from "../errors/exit_codes.ts";
import { ReynError } from "../errors/reyn_error.ts";
import { isDecisionPoint } from "../points/decisions.ts";
import { addDecisionCommands } from "./decision_commands.ts";
import type { VerbKit } from "./verb_kit.ts";

export function addHooksCommands(program: Command, kit: VerbKit): Command {
  const { verb, act, host } = kit;
  const hooks = verb(program, "hooks", "what hooks can be at");
  verb(hooks, "points", "list every reaction and decision point with its fields")
    .action(act(async (globals) => (await import("./hooks_points.ts")).hooksPointsVerb(globals)));
  verb(hooks, "allow <name>", "approve exactly what a hook's command is now, and show it")
    .action(
      act<[string]>(async (globals, _options, name) =>
        (await import("./hooks_consent.ts")).allowHookVerb(globals, name)
      ),
    );
  verb(hooks, "revoke <name>", "take back what was approved for a hook here")
    .action(
      act<[string]>(async (globals, _options, name) =>
        (await import("./hooks_consent.ts")).revokeHookVerb(globals, name)
      ),
    );
  verb(hooks, "fire <point>", "show what the hooks of a point would do, and run none")
    .option("--data <json>", "fields of the event, as JSON or @file; the rest is made up")
    .option("--run", "really ask them")
    .action(
      act<[string]>(async (globals, options, point) => {
        if (isDecisionPoint(point)) {
          const { fireDecisionVerb } = await import("./hooks_fire_decision.ts");
          return await fireDecisionVerb({
            globals,
            point,
            data: options["data"],
            run: options["run"] === true,
          }, host);
        }
        throw new ReynError("E_VERB_NOT_YET", "`reyn hooks fire` of a reaction is not there yet", {
          exitCode: EXIT.usage,
        });
      }),
    );
  addDecisionCommands(hooks, kit);
  return hooks;
}
