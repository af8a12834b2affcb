import process from "node:process";
import { EXIT } from "../errors/exit_codes.ts";
import { formatFinding } from "../errors/finding.ts";
import { isReynError, type ReynError } from "../errors/reyn_error.ts";
import { loadForSession, requireUsable } from "../runtime/configuration.ts";
import { openRuntime } from "../runtime/open_runtime.ts";
import type { RunEvent } from "../runtime/run_event.ts";
import { humanMessage } from "../session/messages.ts";
import { goOnWithoutReader } from "./closed_output.ts";
import { controlDir } from "./control_dir.ts";
import type { GlobalOptions, Host } from "./host.ts";
import { readMessage } from "./read_message.ts";
import { onSignals } from "./signals.ts";
import { jsonLines, timeline } from "./timeline.ts";

export interface RunOptions {
  globals: GlobalOptions;
  message: string | undefined;
  file: string | undefined;
}

/** `reyn run`: opens the session, gives it the message, and takes turns until nothing is left to do. */
export async function runVerb({ globals, message, file }: RunOptions, host: Host): Promise<number> {
  const dir = controlDir(globals.dir);
  const text = await readMessage(message, file);
  const configuration = loadForSession({ controlDir: dir, agent: globals.agent, sid: globals.session });
  requireUsable(configuration);
  const talk = (line: string) => {
    if (!globals.quiet) process.stderr.write(line);
  };
  for (const warning of configuration.findings) talk(`${formatFinding(warning)}\n`);
  if (!globals.hooks) talk("hooks are switched off (--no-hooks)\n");

  goOnWithoutReader();
  const runtime = await openRuntime({ controlDir: dir, verb: "run", configuration, host, talk });
  let humanFailed = false;
  const show = globals.json
    ? jsonLines((line) => process.stdout.write(line))
    : timeline({ data: (line) => process.stdout.write(line), talk, width: 240 });
  const observe = (event: RunEvent) => {
    if (event.type === "turn_started") humanTurn = event.kind === "user";
    if (event.type === "turn_ended" && event.status === "error" && humanTurn) humanFailed = true;
    show(event);
  };
  let humanTurn = false;
  let suspended = false;

  let stop: (() => void) | undefined;
  const signals = onSignals({
    clock: host.clock,
    ioClock: host.ioClock,
    graceMs: configuration.shutdownGraceMs,
    stop: () => stop?.(),
    async giveUp(why) {
      talk(`gave up waiting for the session to end (${why})\n`);
      await runtime.abandon();
    },
  });
  try {
    const session = await runtime.openSession({ observe, hooks: globals.hooks });
    stop = () => session.stop();
    if (signals.received) session.stop();
    const refused = text === undefined || signals.received
      ? undefined
      : await refusalOf(() => session.accept(humanMessage(host.ids.next(), text)));
    if (!refused) await session.run({ untilIdle: true });
    suspended = session.state.suspended !== null;
    await session.close();
    const { suspended: by } = session.state;
    if (by !== null && !suspended) show({ type: "suspended", session: session.id, hook: by, waiting: 0 });
    suspended = by !== null;
    if (refused) throw refused;
  } finally {
    signals.dispose();
    await runtime.close();
  }
  if (signals.received) return 128 + signals.received.number;
  return humanFailed || suspended ? EXIT.refused : EXIT.ok;
}

/** The reason why a message was not taken; the session is sound then, and is to be closed in order. */
async function refusalOf(accept: () => Promise<unknown>): Promise<ReynError | undefined> {
  try {
    await accept();
    return undefined;
  } catch (error) {
    if (isReynError(error) && (error.code === "E_INBOX_FULL" || error.code === "E_MESSAGE_TOO_LARGE")) {
      return error;
    }
    throw error;
  }
}
