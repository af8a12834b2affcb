import type { Command } from "commander";
import { unknownVerb, type VerbKit } from "./verb_kit.ts";

export function addSessionsCommands(program: Command, { verb, act, host }: VerbKit): Command {
  const sessions = verb(program, "sessions", "list sessions, or show one");
  const list = act(async (globals, options) => {
    if (sessions.args.length > 0 && sessions.args[0] !== "list") throw unknownVerb(sessions, sessions.args);
    const wanted = { agent: options["agent"] !== undefined, session: options["session"] !== undefined };
    return await (await import("./sessions.ts")).listSessionsVerb(globals, wanted, host);
  });
  sessions.action(list);
  verb(sessions, "list", "list sessions: all, or those of --agent and --session").action(list);
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

  verb(sessions, "end <id>", "end an open session: a turn that runs is interrupted, session_end fires")
    .action(
      act<[string]>(async (globals, _options, id) =>
        (await import("./sessions_end.ts")).endSessionVerb(globals, id, host)
      ),
    );

  verb(sessions, "export <id>", "print everything of a session as JSON lines; with --json as one object")
    .action(
      act<[string]>(async (globals, _options, id) =>
        (await import("./sessions_export.ts")).exportSessionVerb(globals, id, host)
      ),
    );

  // After its commands were made, which would inherit it.
  sessions.allowExcessArguments();
  return sessions;
}
