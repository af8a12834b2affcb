import process from "node:process";
import { type Command, Option } from "commander";
import { EXIT } from "../errors/exit_codes.ts";
import type { VerbKit } from "./verb_kit.ts";

/** Of `--file`, spelt out so that the help costs nothing. */
const FILES = ["startup", "operator", "hooks", "agent", "session"] as const;

export function addSchemaCommand(program: Command, { verb, act }: VerbKit): void {
  verb(program, "schema", "print the JSON schema of a configuration file, for editors")
    .addOption(new Option("--file <which>", "the kind of file").choices(FILES).default("startup"))
    .addHelpText(
      "after",
      "\nstartup is reyn.yaml and reyn.local.yaml, operator ~/.reyn/config.yaml, hooks .reyn/config/hooks.yaml,\n" +
        "agent and session their own hooks.yaml. An editor finds it by the first line of the file:\n" +
        "# yaml-language-server: $schema=.reyn/schema.json",
    )
    .action(act(async (_globals, options) => {
      const { schemaText } = await import("../runtime/schema_files.ts");
      const file = FILES.find((one) => one === options["file"]) ?? "startup";
      process.stdout.write(schemaText(file));
      return EXIT.ok;
    }));
}
