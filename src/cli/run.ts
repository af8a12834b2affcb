import process from "node:process";
import { EXIT } from "../errors/exit_codes.ts";
import { formatFinding } from "../errors/finding.ts";
import { isReynError, type ReynError } from "../errors/reyn_error.ts";
import { loadForSession } from "../runtime/configuration.ts";
import { requireStart } from "../runtime/audit_trust.ts";
import { openRuntime } from "../runtime/open_runtime.ts";
import type { RunEvent } from "../runtime/run_event.ts";
import { humanMessage } from "../session/messages.ts";
import { findServer } from "../server/find_server.ts";
import { attachTerminal } from "./attach_terminal.ts";
import { goOnWithoutReader } from "./closed_output.ts";
import { controlDir } from "./control_dir.ts";
import { heldOutput } from "./held_output.ts";
import type { GlobalOptions, Host } from "./host.ts";
import { readMessage } from "./read_message.ts";
import { onSignals } from "./signals.ts";
import { newsOfSuspensions } from "./suspensions.ts";
import { jsonLines, timeline } from "./timeline.ts";

export interface RunOptions {
  globals: GlobalOptions;
  message: string | undefined;
  file: string | undefined;
}

/** `reyn run`, here or in the server that runs: opens the session, gives it the message, and takes turns until nothing is left to do. */
export async function runVerb({ globals, message, file }: RunOptions, host: Host): Promise<number> {
  const dir = controlDir(globals.dir);
  const text = await readMessage(message, file);
  if (findServer(dir)) {
    const { runThroughServer } = await import("./run_attached.ts");
    const through = { controlDir: dir, globals, text, stdinRead: message === "-" };
    const exit = await runThroughServer(through, host);
    if (exit !== undefined) return exit;
  }
  const configuration = loadForSession({ controlDir: dir, agent: globals.agent, sid: globals.session });
  const output = heldOutput();
  const data = output.writer((text) => void process.stdout.write(text));
  const talk = output.writer((line) => {
    if (!globals.quiet) process.stderr.write(line);
  });
  await requireStart(configuration, { controlDir: dir, host, talk });
  for (const warning of configuration.findings) talk(`${formatFinding(warning)}\n`);
  if (!globals.hooks) talk("hooks are switched off (--no-hooks)\n");

  goOnWithoutReader();
  const own = `${globals.agent}/${globals.session}`;
  const show = shownRun(own, globals.json, { data, talk });
  let humanTurn = false;
  let humanFailed = false;
  const failures: unknown[] = [];
  const runtime = await openRuntime({
    controlDir: dir,
    verb: "run",
    configuration,
    host,
    talk,
    hooks: globals.hooks,
    observe(event, id) {
      if (id === own) {
        if (event.type === "turn_started") humanTurn = event.kind === "user";
        if (event.type === "turn_ended" && event.status === "error" && humanTurn) humanFailed = true;
      }
      show(event, id);
    },
    onFailure: (id, error) => {
      if (id !== own) talk(`session ${id} failed\n`);
      failures.push(error);
    },
  });

  let suspended = false;
  const signals = onSignals({
    clock: host.clock,
    ioClock: host.ioClock,
    graceMs: configuration.shutdownGraceMs,
    stop: () => runtime.sessions.stop(),
    async giveUp(why) {
      talk(`gave up waiting for the session to end (${why})\n`);
      await runtime.abandon();
    },
  });
  const detach = attachTerminal({
    interventions: runtime.interventions,
    output,
    json: globals.json,
    stdinRead: message === "-",
    clock: host.ioClock,
  });
  try {
    const session = await runtime.sessions.load({ agent: globals.agent, sid: globals.session });
    const refused = text === undefined || signals.received
      ? undefined
      : await refusalOf(() => session.accept(humanMessage(host.ids.next(), text)));
    if (!refused) {
      runtime.sessions.start(session);
      await runtime.sessions.idle();
    }
    const before = session.state.suspended;
    if (failures.length === 0) await runtime.sessions.close();
    const { suspended: by } = session.state;
    if (by !== null && before === null) show({ type: "suspended", session: own, hook: by, waiting: 0 }, own);
    suspended = by !== null;
    if (refused) throw refused;
    if (failures.length > 0) throw failures[0];
  } finally {
    signals.dispose();
    detach();
    await runtime.close();
  }
  if (signals.received) return 128 + signals.received.number;
  return humanFailed || suspended ? EXIT.refused : EXIT.ok;
}

/** The session of the run as its timeline; what happens in others, which it wakes, as talk beside it. */
function shownRun(
  own: string,
  json: boolean,
  { data, talk }: { data: (line: string) => void; talk: (line: string) => void },
): (event: RunEvent, session: string) => void {
  const width = 240;
  const mine = json ? jsonLines(data) : timeline({ data, talk, width });
  const others = new Map<string, (event: RunEvent) => void>();
  const beside = (session: string): (event: RunEvent) => void => {
    const known = others.get(session);
    if (known) return known;
    const aside = (line: string) => talk(`[${session}] ${line}`);
    const made = json ? jsonLines(data, { session }) : timeline({ data: aside, talk: aside, width });
    others.set(session, made);
    return made;
  };
  const isNews = newsOfSuspensions();
  return (event, session) => {
    if (!isNews(event, session)) return;
    if (session === own) mine(event);
    else beside(session)(event);
  };
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
