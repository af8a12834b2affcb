import type { LoggedEvent } from "../audit_log.ts";
import type { EventPattern, Expectation, StepOf } from "../format.ts";
import { jsonMatches, jsonMismatches, show } from "../match_json.ts";
import { poll } from "../poll.ts";
import type { World } from "../world.ts";
import { StepFailure } from "./failure.ts";
import { STEP_TIMEOUT_MS } from "./process_steps.ts";

/** Waits until so many events of the whole run match. */
export async function waitEvent(world: World, step: StepOf<"wait_event">["wait_event"]): Promise<void> {
  const timeout = step.timeout ?? STEP_TIMEOUT_MS;
  const wanted = step.count ?? 1;
  const matching = async () => (await world.log.read()).filter((event) => matches(event, step)).length;
  const done = await poll(timeout, async () => (await matching()) >= wanted || undefined);
  if (done) return;
  const events = await world.log.read();
  throw new StepFailure(
    `${await matching()} of ${wanted} events ${showPattern(step)} within ${
      timeout / 1000
    } s; the log holds:\n` +
      listing(events),
  );
}

/** What does not hold of the events so far. */
export async function eventProblems(
  world: World,
  wanted: NonNullable<Expectation["events"]>,
): Promise<string[]> {
  const events = await world.log.read();
  const problems: string[] = [];
  if (world.log.damaged() > 0) problems.push(`${world.log.damaged()} lines of the log are no events`);
  let from = 0;
  for (const [index, pattern] of (wanted.order ?? []).entries()) {
    const found = events.findIndex((event, at) => at >= from && matches(event, pattern));
    if (found < 0) {
      problems.push(
        `events[${index}] ${showPattern(pattern)} is missing${index > 0 ? ", behind those before it" : ""}` +
          `${nearest(events.slice(from), pattern)}; the log holds${from > 0 ? " from there on" : ""}:\n` +
          listing(events.slice(from)),
      );
      break;
    }
    from = found + 1;
  }
  for (const pattern of wanted.absent ?? []) {
    const found = events.filter((event) => matches(event, pattern));
    if (found.length > 0) problems.push(`${showPattern(pattern)} should not be there:\n${listing(found)}`);
  }
  for (const [type, number] of Object.entries(wanted.count ?? {})) {
    const found = events.filter((event) => event.type === type);
    if (found.length === number) continue;
    const shown = found.length > 0 ? listing(found) : `there are:\n${listing(events)}`;
    problems.push(`${found.length} events of type ${type}, not ${number}; ${shown}`);
  }
  return problems;
}

function matches(event: LoggedEvent, pattern: EventPattern): boolean {
  if (event.type !== pattern.type) return false;
  if (pattern.session !== undefined && !jsonMatches(event.session, pattern.session)) return false;
  return pattern.data === undefined || jsonMatches(event.data, pattern.data);
}

/** Why the first event of the right type is not the one. */
function nearest(events: readonly LoggedEvent[], pattern: EventPattern): string {
  const same = events.find((event) => event.type === pattern.type);
  if (!same) return "";
  const { type: _, ...rest } = pattern;
  const why = jsonMismatches({ session: same.session, data: same.data }, rest);
  return ` (the first one differs: ${why.slice(0, 3).join("; ")})`;
}

function showPattern({ type, session, data }: EventPattern): string {
  return [
    type,
    ...(session === undefined ? [] : [`session ${show(session)}`]),
    ...(data === undefined ? [] : [show(data)]),
  ]
    .join(" ");
}

const MOST_EVENTS = 40;

function listing(events: readonly LoggedEvent[]): string {
  if (events.length === 0) return "    (no events)";
  const lines = events.slice(0, MOST_EVENTS).map(({ type, session, data }) =>
    `    ${type} ${typeof session === "string" ? session : "-"} ${show(data)}`
  );
  const more = events.length - lines.length;
  return [...lines, ...(more > 0 ? [`    (${more} more)`] : [])].join("\n");
}
