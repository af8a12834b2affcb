import { join } from "node:path";
import { dayOf } from "../audit/file_name.ts";
import { hasCode } from "../audit/io_error.ts";
import { readAudit } from "../audit/reader.ts";
import { renderEvent } from "../audit/render.ts";
import type { Clock } from "../clock/clock.ts";
import { escapeVisible } from "../errors/escape_visible.ts";
import { EXIT } from "../errors/exit_codes.ts";
import { type Finding, formatFinding, isError } from "../errors/finding.ts";
import { formatError, isReynError } from "../errors/reyn_error.ts";
import { eventsFilter, type EventsOptions } from "./events_options.ts";

export interface EventsIo {
  /** May wait for the reader; what it throws with code EPIPE ends the verb quietly. */
  stdout(text: string): void | Promise<void>;
  stderr(text: string): void | Promise<void>;
  /** Ends the verb, in follow mode the only thing that does. */
  signal: AbortSignal;
  clock: Clock;
  controlDir: string;
  /** ANSI colours. Default false. */
  colour?: boolean;
}

/** Text is written in pieces of about this many characters, line by line in follow mode. */
const PIECE_CHARS = 64 * 1024;

/**
 * `reyn events`: the audit log of the control folder, oldest first, one line an event; with `json` each line as it is
 * stored. Answers the exit code: 0, also for an empty or absent log and for damaged lines (told on stderr); 1 when a
 * file cannot be read; 2 for wrong use.
 */
export async function eventsVerb(options: EventsOptions, io: EventsIo): Promise<number> {
  try {
    return await printEvents(options, io);
  } catch (error) {
    if (isBrokenPipe(error)) return EXIT.ok;
    if (!isReynError(error)) throw error;
    await io.stderr(formatError(error) + "\n");
    return error.exitCode;
  }
}

async function printEvents(options: EventsOptions, io: EventsIo): Promise<number> {
  const { clock, signal, controlDir, colour = false } = io;
  const { follow = false, json = false } = options;
  let failed = false;
  let piece = "";
  let told = Promise.resolve();

  const tell = (problem: Finding) => {
    failed ||= isError(problem);
    const text = escapeVisible(formatFinding(problem)) + "\n";
    // A closed stderr is no reason to stop.
    told = told.then(() => io.stderr(text)).catch(() => {});
  };

  const lines = readAudit({
    dir: join(controlDir, ".reyn", "events"),
    filter: eventsFilter(options, clock.now()),
    clock,
    follow,
    signal,
    onProblem: tell,
  });
  for await (const { event, text } of lines) {
    piece += json ? text : renderEvent(event, { colour, today: dayOf(clock.now()) });
    piece += "\n";
    if (!follow && piece.length < PIECE_CHARS) continue;
    await io.stdout(piece);
    piece = "";
  }
  if (piece !== "") await io.stdout(piece);
  await told;
  return failed ? EXIT.refused : EXIT.ok;
}

function isBrokenPipe(error: unknown): boolean {
  return hasCode(error, "EPIPE");
}
