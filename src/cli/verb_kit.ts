import type { Command } from "commander";
import { ReynError } from "../errors/reyn_error.ts";
import { didYouMean } from "../config/suggest.ts";
import { EXIT } from "../errors/exit_codes.ts";
import { quote } from "../errors/quote.ts";
import { globalsOf, mergedOptions } from "./global_options.ts";
import type { GlobalOptions, Host } from "./host.ts";

/** What a file that adds verbs works with. */
export interface VerbKit {
  host: Host;
  /** Adds a command with the options that every command takes. */
  verb(parent: Command, usage: string, description: string): Command;
  /**
   * The action of a command: called with the global options, all options and the command's arguments, it answers
   * the exit code. Its code is to be imported inside, so that no verb pays for another.
   */
  act<A extends unknown[]>(
    run: (globals: GlobalOptions, options: Record<string, unknown>, ...args: A) => Promise<number>,
  ): (...all: unknown[]) => Promise<void>;
}

export function verbKit(host: Host, done: (exit: number) => void): VerbKit {
  return {
    host,
    verb: (parent, usage, description) =>
      withGlobals(parent.command(usage).description(description).showSuggestionAfterError().exitOverride()),
    act: <A extends unknown[]>(
      run: (globals: GlobalOptions, options: Record<string, unknown>, ...args: A) => Promise<number>,
    ) =>
    async (...all: unknown[]): Promise<void> => {
      const command = all.pop() as Command;
      all.pop();
      const options = mergedOptions(command);
      done(await run(globalsOf(options), options, ...(all as A)));
    },
  };
}

/** Adds the options that every command takes, on the command itself so that they may stand on either side of it. */
export function withGlobals(command: Command): Command {
  return command
    .option("-C, --dir <dir>", "control folder (default: the working directory)")
    .option("--agent <name>", "the agent (default: default)")
    .option("--session <sid>", "the session: <sid> or <agent>/<sid> (default: main)")
    .option("--json", "machine-readable output on stdout")
    .option("--no-hooks", "run no hooks")
    .option("--quiet", "no talk on stderr")
    .option(
      "--config <file>",
      "what declares decision hooks (default: .reyn/cli-config.yaml, then ~/.reyn's)",
    );
}

export function unknownVerb(parent: Command, operands: readonly string[]): ReynError {
  const word = operands[0] ?? "";
  const known = parent.createHelp().visibleCommands(parent).map((command) => command.name());
  const path = parent.parent === null ? "reyn" : `reyn ${parent.name()}`;
  return new ReynError("E_USAGE", `unknown command ${quote(word)}`, {
    fix: didYouMean(word, known) ?? `\`${path} --help\` lists the commands`,
    exitCode: EXIT.usage,
  });
}
