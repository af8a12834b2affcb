import type { Command } from "commander";
import { unknownVerb, type VerbKit } from "./verb_kit.ts";

/** gc, backup, service. */
export function addOperationCommands(program: Command, { verb, act, host }: VerbKit): void {
  verb(
    program,
    "gc",
    "remove what is no longer needed: old audit files, ids of messages, log records, set-aside files",
  )
    .option("--dry-run", "remove nothing, only say what would be")
    .option("--events-age <duration>", "keep audit files of this long (default: 720h)")
    .option("--events-size <size>", "of these at most so much, 0 for any (default: 1GiB)")
    .option("--ids-age <duration>", "know a message that is sent again for this long (default: 168h)")
    .option("--set-aside-age <duration>", "keep what was set aside for this long (default: 2160h)")
    .action(act(async (globals, options) =>
      (await import("./gc.ts")).gcVerb(globals, {
        eventsAge: text(options["eventsAge"]),
        eventsSize: text(options["eventsSize"]),
        idsAge: text(options["idsAge"]),
        setAsideAge: text(options["setAsideAge"]),
        dry: options["dryRun"] === true,
      }, host)
    ));

  verb(program, "backup <target>", "copy the state, also while a server runs")
    .option("--approvals", "also what you have approved: allowlist and trust")
    .addHelpText(
      "after",
      "\nA target that ends in .db is a copy of the store alone; any other is made a folder.",
    )
    .action(
      act<[string]>(async (globals, options, target) =>
        (await import("./backup.ts")).backupVerb(globals, target, {
          approvals: options["approvals"] === true,
        }, host)
      ),
    );

  const service = program.command("service").description("run reyn under a service manager").exitOverride();
  service.on("command:*", (operands: string[]) => {
    throw unknownVerb(service, operands);
  });
  verb(service, "print", "print a systemd unit for this binary and control folder")
    .option("--binary <path>", "reyn's binary (default: this one)")
    .option("--user <name>", "the account to run as")
    .action(act(async (globals, options) =>
      (await import("./service.ts")).printServiceVerb(globals, {
        binary: text(options["binary"]),
        user: text(options["user"]),
      })
    ));
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
