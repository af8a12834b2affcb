import process from "node:process";
import { escapeVisible } from "../errors/escape_visible.ts";
import { ReynError } from "../errors/reyn_error.ts";
import type { DryHook } from "../runtime/fire_dry.ts";
import { type ServerClient, sessionPath } from "../server/client.ts";
import { requireHooks, showThroughServer } from "./attached.ts";
import type { FiredForReal, FireForRealOptions } from "./fire_for_real.ts";
import { fireResults } from "./fire_results.ts";
import { heldOutput } from "./held_output.ts";
import { shownEvent } from "./shown_event.ts";
import { timeline } from "./timeline.ts";

const WIDTH = 240;

/**
 * Runs the hooks of a point in a session of the server that runs here, as it has them. Its questions are asked on the terminal, too. A
 * signal ends the showing; the hooks go on.
 */
export async function fireThroughServer(
  client: ServerClient,
  { configuration, key, payload, dry, globals, host }: Omit<FireForRealOptions, "dir" | "kind">,
): Promise<FiredForReal> {
  requireHooks(globals);
  const output = heldOutput();
  const talk = output.writer((line) => {
    if (!globals.quiet) process.stderr.write(line);
  });
  const show = timeline({ data: talk, talk, width: WIDTH });
  const session = `${configuration.agent}/${configuration.sid}`;
  talk(`(in session ${session}, through reyn serve, pid ${client.pid})\n`);

  const results = fireResults();
  let ended = false;
  const signal = await showThroughServer({
    client,
    session,
    output,
    talk,
    json: globals.json,
    stdinRead: false,
    clock: host.ioClock,
    path: sessionPath(session, "/fire"),
    body: { point: key, payload },
    refusal: "fire_refused",
    each(type, event) {
      if (type === "fire_ended") ended = true;
      else if (type === "record") {
        const { type: record, data } = event as { type: string; data: Record<string, unknown> };
        results.record(record, data);
      } else {
        const shown = shownEvent(event);
        if (shown) show(shown);
      }
    },
  });
  if (signal > 0) talk("detached; the hooks go on in the server\n");
  else if (!ended) {
    throw new ReynError("E_SERVER_UNREACHABLE", "the server is gone, or this reads too slowly", {
      fix: "`reyn events` tells what became of the hooks",
    });
  }
  const declared = new Set(dry.map(({ hook }) => hook));
  for (const hook of results.hooks()) {
    if (!declared.has(hook)) talk(`${escapeVisible(hook)} ran too: the session has it from before\n`);
  }
  return {
    hooks: dry.map((hook) => ({ ...hook, ...results.of(hook.hook) ?? (signal > 0 ? UNKNOWN : NOT_LOADED) })),
    ...(signal > 0 ? { signalled: 128 + signal } : {}),
  };
}

const NOT_LOADED: Partial<DryHook> = {
  verdict: "refused",
  reason: "the session does not have it yet; it reads its hooks when it is loaded",
};
const UNKNOWN: Partial<DryHook> = { verdict: "unknown" };
