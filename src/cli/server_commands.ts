import type { Command } from "commander";
import type { VerbKit } from "./verb_kit.ts";

export function addServerCommands(program: Command, { verb, act, host }: VerbKit): void {
  verb(program, "serve", "host all sessions: HTTP API, control socket")
    .option("--host <address>", "listen on this address (default: server.host)")
    .option("--port <port>", "listen on this port, 0 for any that is free (default: server.port)")
    .action(act(async (globals, options) => {
      const { serveVerb } = await import("./serve.ts");
      return await serveVerb({ globals, address: text(options["host"]), port: text(options["port"]) }, host);
    }));

  verb(program, "send [message]", "put a message in a session's inbox and do not wait for its turn")
    .option("--file <file>", "read the message from a file")
    .option("--passive", "start no turn: wait for the next one")
    .option("--key <key>", "take a message with this key once only")
    .addHelpText("after", "\n`-` as the message reads it from stdin.")
    .action(act<[string | undefined]>(async (globals, options, message) => {
      const { sendVerb } = await import("./send.ts");
      return await sendVerb({
        globals,
        message,
        file: text(options["file"]),
        key: text(options["key"]),
        passive: options["passive"] === true,
      }, host);
    }));

  verb(program, "status", "say whether a server runs here, and how it stands")
    .option("--wait <duration>", "wait this long for one that is ready")
    .action(act(async (globals, options) => {
      const { statusVerb } = await import("./status.ts");
      return await statusVerb({ globals, wait: text(options["wait"]) }, host);
    }));
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
