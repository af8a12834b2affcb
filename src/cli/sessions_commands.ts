import type { Command } from "commander";
import { unknownVerb, type VerbKit } from "./verb_kit.ts";

export function addSessionsCommands(program: Command, { verb, act, host }: VerbKit): Command {
  const sessions = verb(program, "sessions", "list sessions, or show one");
  sessions.action(act(async (globals) => {
    if (sessions.args.length > 0) throw unknownVerb(sessions, sessions.args);
    return await (await import("./sessions.ts")).listSessionsVerb(globals);
  }));
  verb(sessions, "list", "list sessions")
    .action(act(async (globals) => (await import("./sessions.ts")).listSessionsVerb(globals)));
  verb(sessions, "show <id>", "show one session: history, inbox, staged context, valve")
    .action(
      act<[string]>(async (globals, _options, id) =>
        (await import("./sessions.ts")).showSessionVerb(globals, id)
      ),
    );
  verb(sessions, "resume <id>", "let a session take turns again that a failed hook suspended")
    .action(
      act<[string]>(async (globals, _options, id) =>
        (await import("./sessions_resume.ts")).resumeSessionVerb(globals, id, host)
      ),
    );

  // After its commands were made, which would inherit it.
  sessions.allowExcessArguments();
  return sessions;
}
