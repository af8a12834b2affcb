import process from "node:process";
import { DEFAULT_KEY } from "../composers/composer.ts";
import type { ComposerEvent } from "../composers/runner.ts";
import { simulate } from "../composers/simulation.ts";
import { parseTimeline } from "../composers/timeline.ts";
import { showDuration } from "../config/scalars.ts";
import { escapeVisible } from "../errors/escape_visible.ts";
import { EXIT } from "../errors/exit_codes.ts";
import { formatFinding, isError } from "../errors/finding.ts";
import { ReynError } from "../errors/reyn_error.ts";
import { type Configuration, loadForSession, requireUsable } from "../runtime/configuration.ts";
import { listComposers, type ListedComposer, type LiveComposers } from "../runtime/list_composers.ts";
import { sessionPath } from "../server/client.ts";
import { controlDir } from "./control_dir.ts";
import type { GlobalOptions, Host } from "./host.ts";
import { readInput } from "./read_message.ts";
import { askOrRead, tellSource } from "./told_source.ts";

/** Keys that a listing for people shows of one composer. */
const SHOWN_KEYS = 10;

/** `reyn composers list`. */
export async function listComposersVerb(globals: GlobalOptions, host: Host): Promise<number> {
  const dir = controlDir(globals.dir);
  const configuration = loadUsable(globals, dir);
  const session = `${configuration.agent}/${configuration.sid}`;
  // What a server holds in memory is in no file.
  const { value: live, source } = await askOrRead<LiveComposers | undefined>(dir, host.ioClock, {
    ask: async (client) => await client.get(sessionPath(session, "/composers")) as LiveComposers,
    read: () => Promise.resolve(undefined),
    from: "files",
  });
  tellSource(
    globals,
    live?.loaded === false ? `${source}; ${session} is not loaded: read from files` : source,
  );
  const composers = await listComposers({
    ...(live ? { live } : {}),
    controlDir: dir,
    configuration,
    clock: host.clock,
    onProblem: (problem) => talk(globals, `${formatFinding(problem)}\n`),
  });
  if (globals.json) {
    process.stdout.write(`${JSON.stringify(composers)}\n`);
    return EXIT.ok;
  }
  process.stdout.write(composers.map(listedText).join(""));
  if (composers.length === 0) talk(globals, "no composers are declared\n");
  return EXIT.ok;
}

/** `reyn composers simulate FILE`: replays a timeline on a clock of its own and prints every fire and drop as JSON lines. */
export async function simulateVerb(
  globals: GlobalOptions,
  file: string,
  until: string | undefined,
): Promise<number> {
  const dir = controlDir(globals.dir);
  const configuration = loadUsable(globals, dir);
  const end = until === undefined ? undefined : secondsOf(until);
  const text = await readInput(file);
  const own = { agent: configuration.agent, sid: configuration.sid };
  const shown = file === "-" ? "stdin" : file;
  const { events, findings } = parseTimeline(text, shown, own);
  if (findings.some(isError)) {
    throw new ReynError("E_TIMELINE", `${shown} is not a timeline`, { findings });
  }
  if (configuration.composers.length === 0) talk(globals, "no composers are declared\n");
  const lines: string[] = [];
  const flush = () => {
    process.stdout.write(lines.join(""));
    lines.length = 0;
  };
  const run = simulate(configuration.composers, (what, at) => {
    lines.push(`${JSON.stringify(outcomeLine(what, at))}\n`);
    if (lines.length >= 1000) flush();
  });
  for (const event of events) {
    if (end !== undefined && event.at > end) break;
    run.publish(event);
  }
  run.finish(end);
  flush();
  return EXIT.ok;
}

function outcomeLine(what: ComposerEvent, at: number) {
  const base = { at: at / 1000, event: what.type, composer: what.composer, correlation_key: what.key };
  return what.type === "fired" ? { ...base, payload: what.event.payload } : { ...base, reason: what.reason };
}

function loadUsable(globals: GlobalOptions, dir: string): Configuration {
  const configuration = loadForSession({ controlDir: dir, agent: globals.agent, sid: globals.session });
  requireUsable(configuration);
  for (const warning of configuration.findings) {
    if (warning.code !== "W_MODEL_ECHO") talk(globals, `${formatFinding(warning)}\n`);
  }
  return configuration;
}

function secondsOf(text: string): number {
  const seconds = Number(text);
  if (text.trim() !== "" && Number.isFinite(seconds) && seconds >= 0) return seconds * 1000;
  throw new ReynError("E_USAGE", "--until takes seconds from the beginning of the timeline", { exitCode: 2 });
}

function listedText(composer: ListedComposer): string {
  const { name, op, layer, ttl, durable, fires, last_fire: last, drops, pending } = composer;
  const waits = composer.inputs.map(({ kind, match }) => kind + matchText(match)).join(", ");
  const until = composer.until ? ` until ${composer.until.kind}${matchText(composer.until.match)}` : "";
  const head = [
    name,
    op,
    `${waits}${until} -> ${composer.emits}`,
    showDuration(Math.round(ttl * 1000)),
    layer,
    ...(durable ? ["durable"] : []),
  ];
  const lines = [escapeVisible(head.join("  "))];
  const dropped = Object.entries(drops).map(([reason, count]) => `${reason} ${count}`);
  const fired = last === null
    ? "never fired"
    : `fired ${fires === 1 ? "once" : `${fires} times`}, last ${last}`;
  lines.push(`  ${fired}${dropped.length > 0 ? `; dropped: ${dropped.join(", ")}` : ""}`);
  if (pending === null) lines.push("  what is pending is in the memory of the process that runs the session");
  for (const { key, state, due_in: left, events } of (pending ?? []).slice(0, SHOWN_KEYS)) {
    const shown = key === DEFAULT_KEY ? "pending" : escapeVisible(key);
    const when = state === "fired" ? "fired, hooks not settled" : dueText(left ?? 0, op);
    lines.push(`  ${shown}: ${when}${events > 1 ? `, ${events} events` : ""}`);
  }
  const more = (pending ?? []).length - SHOWN_KEYS;
  if (more > 0) lines.push(`  and ${more} more`);
  return `${lines.join("\n")}\n`;
}

function matchText(match: Readonly<Record<string, string>> | undefined): string {
  return match
    ? `{${Object.entries(match).map(([field, pattern]) => `${field}: ${pattern}`).join(", ")}}`
    : "";
}

function dueText(left: number, op: string): string {
  const fires = op === "deadline" || op === "window" || op === "debounce";
  if (left <= 0) return fires ? "overdue: fires at the next start" : "overdue: dropped at the next start";
  return `${fires ? "fires" : "dropped"} in ${left} s`;
}

function talk(globals: GlobalOptions, text: string): void {
  if (!globals.quiet) process.stderr.write(text);
}
