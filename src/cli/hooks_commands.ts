import type { Command } from "commander";
import type { VerbKit } from "./verb_kit.ts";

export function addHooksCommands(program: Command, { verb, act }: VerbKit): Command {
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
  return hooks;
}
