import process from "node:process";
import { EXIT } from "../errors/exit_codes.ts";
import { ReynError } from "../errors/reyn_error.ts";
import type { RunResult } from "../runtime/serve_run.ts";
import { connectServer, sessionPath } from "../server/client.ts";
import { requireHooks, showThroughServer } from "./attached.ts";
import { goOnWithoutReader } from "./closed_output.ts";
import { heldOutput } from "./held_output.ts";
import type { GlobalOptions, Host } from "./host.ts";
import { shownEvent } from "./shown_event.ts";
import { newsOfSuspensions } from "./suspensions.ts";
import { timeline } from "./timeline.ts";

const WIDTH = 240;

export interface RunThroughServerOptions {
  controlDir: string;
  globals: GlobalOptions;
  text: string | undefined;
  /** stdin was read to its end, as the message. */
  stdinRead: boolean;
}

/**
 * `reyn run` through a server: the session's own events as a run alone would show them, its questions on the terminal, and its
 * exit code. A signal ends the showing; what the session does goes on. Undefined when the server has just gone.
 */
export async function runThroughServer(
  { controlDir, globals, text, stdinRead }: RunThroughServerOptions,
  host: Host,
): Promise<number | undefined> {
  const client = await connectServer(controlDir, host.ioClock);
  if (!client) return undefined;
  requireHooks(globals);
  const output = heldOutput();
  const talk = output.writer((line) => {
    if (!globals.quiet) process.stderr.write(line);
  });
  const data = output.writer((line) => void process.stdout.write(line));
  const show = timeline({ data, talk, width: WIDTH });
  const isNews = newsOfSuspensions();
  goOnWithoutReader();
  talk(`(through reyn serve, pid ${client.pid})\n`);

  const id = `${globals.agent}/${globals.session}`;
  let result: RunResult | undefined;
  const signalled = await showThroughServer({
    client,
    session: id,
    output,
    talk,
    json: globals.json,
    stdinRead,
    clock: host.ioClock,
    path: sessionPath(id, "/run"),
    body: text === undefined ? {} : { text },
    refusal: "run_refused",
    each(type, event, told) {
      if (type === "run_ended") result = event as RunResult;
      else if (!isNews(Object(event) as Record<string, unknown>, id)) return;
      else if (globals.json) data(`${told}\n`);
      else {
        const shown = shownEvent(event);
        if (shown) show(shown);
      }
    },
  });
  if (signalled > 0) {
    talk("detached; what the session does goes on in the server\n");
    return 128 + signalled;
  }
  return exitOf(result, talk);
}

function exitOf(result: RunResult | undefined, talk: (line: string) => void): number {
  if (!result) {
    throw new ReynError("E_SERVER_UNREACHABLE", "the server is gone, or this reads too slowly", {
      fix: "`reyn sessions show` tells what became of it",
    });
  }
  if (result.cut) {
    talk("the server stops; what is left to do is done when it starts again\n");
    return EXIT.refused;
  }
  return result.failed || result.suspended !== null ? EXIT.refused : EXIT.ok;
}
