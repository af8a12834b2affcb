import type { Command } from "commander";
import { EXIT } from "../errors/exit_codes.ts";
import { ReynError } from "../errors/reyn_error.ts";
import type { VerbKit } from "./verb_kit.ts";

const MOST_FIRINGS = 10_000;

export function addWhyCommand(program: Command, { verb, act }: VerbKit): void {
  verb(program, "why <hook>", "why a hook did or did not run: by its name, or by the id of an event")
    .option("--last <n>", "how many firings of a hook", "20")
    .action(act<[string]>(async (globals, options, what) => {
      const { whyVerb } = await import("./why.ts");
      return await whyVerb(globals, what, count(options["last"]));
    }));
}

function count(value: unknown): number {
  const number = Number(value);
  if (Number.isInteger(number) && number > 0 && number <= MOST_FIRINGS) return number;
  throw new ReynError("E_USAGE", `--last must be a whole number from 1 to ${MOST_FIRINGS}`, {
    exitCode: EXIT.usage,
  });
}
