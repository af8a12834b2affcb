import process from "node:process";
import { controlDir } from "./control_dir.ts";
import { eventsVerb } from "./events.ts";
import type { GlobalOptions, Host } from "./host.ts";
import { tellSource, watchServer, whoRuns } from "./told_source.ts";

/** `reyn events`, ended in order by a signal when it follows; the exit code then tells the signal. */
export async function eventsCommand(
  globals: GlobalOptions,
  options: Record<string, unknown>,
  host: Host,
): Promise<number> {
  const dir = controlDir(globals.dir);
  const follow = options["follow"] === true;
  const given = (key: string) => typeof options[key] === "string" ? { [key]: options[key] as string } : {};
  const ended = new AbortController();
  let signalled = 0;
  const end = (_name: string, number: number) => {
    signalled = number;
    ended.abort();
  };
  process.once("SIGINT", end).once("SIGTERM", end);
  tellSource(globals, `${follow ? "follows" : "read from"} the log; ${whoRuns(dir)}`);
  if (follow) void watchServer(dir, host.ioClock, ended.signal, (text) => tellSource(globals, text));
  try {
    const code = await eventsVerb(
      {
        ...given("session"),
        ...given("agent"),
        ...given("type"),
        ...given("since"),
        follow,
        json: globals.json,
      },
      {
        stdout: (text) => void process.stdout.write(text),
        stderr: (text) => void process.stderr.write(text),
        signal: ended.signal,
        clock: host.clock,
        controlDir: dir,
        colour: process.stdout.isTTY === true && process.env["NO_COLOR"] === undefined,
      },
    );
    return signalled > 0 ? 128 + signalled : code;
  } finally {
    ended.abort();
    process.off("SIGINT", end).off("SIGTERM", end);
  }
}
