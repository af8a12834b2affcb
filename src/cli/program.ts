import process from "node:process";
import { Command, CommanderError } from "commander";
import { escapeVisible } from "../errors/escape_visible.ts";
import { EXIT, EXIT_MEANINGS } from "../errors/exit_codes.ts";
import { ReynError } from "../errors/reyn_error.ts";
import { addComposersCommands } from "./composers_commands.ts";
import { addEventsCommand } from "./events_command.ts";
import { addHooksCommands } from "./hooks_commands.ts";
import type { Host } from "./host.ts";
import { addOperationCommands } from "./operation_commands.ts";
import { addServerCommands } from "./server_commands.ts";
import { addInitCommands } from "./init_commands.ts";
import { addRunCommand } from "./run_command.ts";
import { addSessionsCommands } from "./sessions_commands.ts";
import { addSchemaCommand } from "./schema_command.ts";
import { addTrustCommand } from "./trust_command.ts";
import { unknownVerb, verbKit, withGlobals } from "./verb_kit.ts";
import { VERBS_NOT_YET } from "./verbs_not_yet.ts";
import { addWhyCommand } from "./why_command.ts";
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

  const kit = verbKit(host, done);
  const { verb, act } = kit;
  withGlobals(program).version(VERSION, "-V, --version", "print the version");

  addInitCommands(program, kit);
  addRunCommand(program, kit);
  addServerCommands(program, kit);
  verb(program, "check", "check the configuration and say everything that is wrong")
    .action(act(async (globals) => (await import("./check.ts")).checkVerb(globals)));

  addTrustCommand(program, kit);
  addSchemaCommand(program, kit);
  const sessions = addSessionsCommands(program, kit);
  const hooks = addHooksCommands(program, kit);
  addComposersCommands(program, kit);
  verb(program, "doctor", "show that the sandbox of commands does what it is there for")
    .action(act(async (globals) => (await import("./doctor.ts")).doctorVerb(globals)));

  addEventsCommand(program, kit);
  addOperationCommands(program, kit);
  addWhyCommand(program, kit);
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
  // Without an action of its own it prints its help, to stderr, when no command is named.
  program.on("command:*", (operands: string[]) => {
    throw unknownVerb(program, operands);
  });
  return program;
}

function exitTable(): string {
  const width = Math.max(...EXIT_MEANINGS.map(([code]) => code.length));
  return "\nExit codes:\n" +
    EXIT_MEANINGS.map(([code, meaning]) => `  ${code.padEnd(width)}  ${meaning}`).join("\n");
}
