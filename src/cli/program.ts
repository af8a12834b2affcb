import process from "node:process";
import { Command, CommanderError, Option } from "commander";
import { didYouMean } from "../config/suggest.ts";
import { escapeVisible } from "../errors/escape_visible.ts";
import { EXIT, EXIT_MEANINGS } from "../errors/exit_codes.ts";
import { quote } from "../errors/quote.ts";
import { ReynError } from "../errors/reyn_error.ts";
import type { GlobalOptions, Host } from "./host.ts";
import { VERBS_NOT_YET } from "./verbs_not_yet.ts";
import { VERSION } from "./version.ts";

/** Parses the command line, runs its verb and answers the exit code. Each verb's code is loaded when it is called. */
export async function runProgram(args: readonly string[], host: Host): Promise<number> {
  let code: number = EXIT.ok;
  const program = buildProgram(host, (exit) => {
    code = exit;
  });
  try {
    await program.parseAsync([...args], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  }
  return code;
}

function buildProgram(host: Host, done: (exit: number) => void): Command {
  const program = new Command("reyn")
    .description("Runs agent sessions and dispatches lifecycle hooks for them.")
    .exitOverride()
    .showSuggestionAfterError()
    .enablePositionalOptions()
    .configureOutput({
      outputError: (text, write) =>
        write(text.replace(/^error: /, "E_USAGE ").split("\n").map(escapeVisible).join("\n")),
    })
    .addHelpText("after", exitTable());

  /** Adds the options that every command takes, on the command itself so that they may stand on either side of it. */
  const withGlobals = (command: Command): Command =>
    command
      .option("-C, --dir <dir>", "control folder (default: the working directory)")
      .option("--agent <name>", "the agent (default: default)")
      .option("--session <sid>", "the session: <sid> or <agent>/<sid> (default: main)")
      .option("--json", "machine-readable output on stdout")
      .option("--no-hooks", "run no hooks")
      .option("--quiet", "no talk on stderr")
      .addOption(new Option("--config <file>", "decision hooks and delivery").hideHelp());

  const verb = (parent: Command, usage: string, description: string): Command =>
    withGlobals(parent.command(usage).description(description).showSuggestionAfterError().exitOverride());

  withGlobals(program).version(VERSION, "-V, --version", "print the version");

  const act = <A extends unknown[]>(
    run: (globals: GlobalOptions, options: Record<string, unknown>, ...args: A) => Promise<number>,
  ) =>
  async (...all: unknown[]): Promise<void> => {
    const command = all.pop() as Command;
    all.pop();
    const options = mergedOptions(command);
    refuseConfigFile(options);
    done(await run(globalsOf(options), options, ...(all as A)));
  };

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

  verb(program, "check", "check the configuration and say everything that is wrong")
    .action(act(async (globals) => (await import("./check.ts")).checkVerb(globals)));

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

  verb(program, "doctor", "show that the sandbox of commands does what it is there for")
    .action(act(async (globals) => (await import("./doctor.ts")).doctorVerb(globals)));

  verb(program, "events", "read the audit log")
    .option("--type <types>", "only these types, separated by commas")
    .option("--since <when>", "only since then: a time, or 10m, 2h")
    .option("-f, --follow", "go on as new events come")
    .action(
      act(async (globals, options) =>
        (await import("./events_command.ts")).eventsCommand(globals, options, host)
      ),
    );

  verb(program, "version", "print the version").action(act(async (globals) => {
    process.stdout.write(globals.json ? `${JSON.stringify({ version: VERSION })}\n` : `${VERSION}\n`);
    return EXIT.ok;
  }));

  const groups = new Map([["sessions", sessions], ["hooks", hooks]]);
  for (const { verb: name, group, part } of VERBS_NOT_YET) {
    const parent = group === undefined ? program : groups.get(group);
    parent?.command(name, { hidden: true }).allowUnknownOption().allowExcessArguments()
      .action(() => {
        throw new ReynError(
          "E_VERB_NOT_YET",
          `\`reyn ${
            group === undefined ? name : `${group} ${name}`
          }\` is part of ${part}, which this version does not have yet`,
          {
            exitCode: EXIT.usage,
          },
        );
      });
  }
  // Without an action of their own these two print their help, to stderr, when no command is named.
  for (const parent of [program, hooks]) {
    parent.on("command:*", (operands: string[]) => {
      throw unknownVerb(parent, operands);
    });
  }
  return program;
}

function unknownVerb(parent: Command, operands: readonly string[]): ReynError {
  const word = operands[0] ?? "";
  const known = parent.createHelp().visibleCommands(parent).map((command) => command.name());
  const path = parent.parent === null ? "reyn" : `reyn ${parent.name()}`;
  return new ReynError("E_USAGE", `unknown command ${quote(word)}`, {
    fix: didYouMean(word, known) ?? `\`${path} --help\` lists the commands`,
    exitCode: EXIT.usage,
  });
}

/** Options of the command and of all above it; the nearest one that was given wins. */
function mergedOptions(command: Command): Record<string, unknown> {
  const merged: Record<string, unknown> = {};
  const chain: Command[] = [];
  for (let at: Command | null = command; at; at = at.parent) chain.unshift(at);
  for (const at of chain) {
    for (const [key, value] of Object.entries(at.opts())) {
      const given = at.getOptionValueSource(key) !== "default";
      if (given || !(key in merged)) merged[key] = value;
    }
  }
  return merged;
}

function globalsOf(options: Record<string, unknown>): GlobalOptions {
  const text = (key: string, fallback: string) =>
    typeof options[key] === "string" ? options[key] as string : fallback;
  const session = text("session", "main");
  const slash = session.indexOf("/");
  if (slash !== -1 && options["agent"] !== undefined && options["agent"] !== session.slice(0, slash)) {
    throw new ReynError("E_USAGE", `--agent ${text("agent", "")} and --session ${session} name two agents`, {
      exitCode: EXIT.usage,
    });
  }
  return {
    dir: text("dir", "."),
    agent: slash === -1 ? text("agent", "default") : session.slice(0, slash),
    session: slash === -1 ? session : session.slice(slash + 1),
    json: options["json"] === true,
    hooks: options["hooks"] !== false,
    quiet: options["quiet"] === true,
  };
}

function refuseConfigFile(options: Record<string, unknown>): void {
  if (options["config"] === undefined) return;
  throw new ReynError(
    "E_VERB_NOT_YET",
    "`--config` is part of decision hooks, which this version does not have yet",
    {
      exitCode: EXIT.usage,
    },
  );
}

function exitTable(): string {
  const width = Math.max(...EXIT_MEANINGS.map(([code]) => code.length));
  return "\nExit codes:\n" +
    EXIT_MEANINGS.map(([code, meaning]) => `  ${code.padEnd(width)}  ${meaning}`).join("\n");
}
