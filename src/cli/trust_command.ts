import { type Command, Option } from "commander";
import type { VerbKit } from "./verb_kit.ts";

export function addTrustCommand(program: Command, { verb, act, host }: VerbKit): void {
  verb(program, "trust", "show what the project's files set that needs your trust, and trust it")
    .addOption(new Option("--show", "only show it").conflicts(["revoke", "yes"]))
    .addOption(new Option("--revoke", "take the trust back").conflicts(["show", "yes"]))
    .addOption(new Option("--yes", "trust exactly what is shown, without being asked"))
    .action(act(async (globals, options) => {
      const { trustVerb } = await import("./trust.ts");
      const { show, revoke, yes } = options;
      const what = show === true ? "show" : revoke === true ? "revoke" : "trust";
      return await trustVerb({ globals, what, yes: yes === true }, host);
    }));
}
