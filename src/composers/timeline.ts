import { z } from "zod";
import type { Finding } from "../errors/finding.ts";
import { finding } from "../errors/reyn_error.ts";
import { expecting } from "../config/scalars.ts";
import { checkValue } from "../config/check_value.ts";
import type { SessionRef } from "../hooks/session_ref.ts";
import { parseKind } from "./kinds.ts";
import { DEEPEST_PAYLOAD, isNestedDeeper } from "./nesting.ts";
import type { SimulatedEvent } from "./simulation.ts";

const seconds = z.number({ error: expecting("must be seconds from the beginning, as a number") }).min(0).max(
  1e12,
);

const line = z.strictObject({
  at: seconds,
  kind: z.string({ error: expecting("must be the kind of an event") }),
  payload: z.record(z.string(), z.json(), { error: expecting("must be a map") }).default({}),
});

/** Most findings that one timeline yields. */
const MOST_FINDINGS = 50;

export interface Timeline {
  events: SimulatedEvent[];
  findings: Finding[];
}

/**
 * Reads a timeline: one `{"at": seconds, "kind": …, "payload": {…}}` a line, in order of time. Empty lines are passed
 * over. Kinds are written as in a composer's inputs.
 */
export function parseTimeline(text: string, file: string, own: SessionRef): Timeline {
  const events: SimulatedEvent[] = [];
  const findings: Finding[] = [];
  let latest = 0;
  const lines = text.split("\n");
  for (let index = 0; index < lines.length && findings.length < MOST_FINDINGS; index++) {
    const written = (lines[index] ?? "").trim();
    if (written === "") continue;
    const report = (message: string, fix?: string) => {
      const place = { file, line: index + 1, column: 1 };
      findings.push(finding("E_TIMELINE", message, { place, ...(fix === undefined ? {} : { fix }) }));
    };
    let value: unknown;
    try {
      value = JSON.parse(written);
    } catch {
      report("is not one JSON object on a line");
      continue;
    }
    // One level more: the line around the payload.
    if (isNestedDeeper(value, DEEPEST_PAYLOAD + 1)) {
      report(`payload: is nested more than ${DEEPEST_PAYLOAD} levels deep`);
      continue;
    }
    const checked = checkValue(line, value);
    if (!checked.ok) {
      for (const { placeAt, message, fix } of checked.issues) {
        report(placeAt.length > 0 ? `${placeAt.join(".")}: ${message}` : message, fix);
      }
      continue;
    }
    const { at, kind, payload } = checked.value;
    const event = timelineEvent({ at: at * 1000, kind, payload }, own);
    if (!event.ok) {
      report(`kind: ${event.message}`, event.fix);
      continue;
    }
    if (event.event.at < latest) report(`at: ${at} is before the line above`, "lines stand in order of time");
    else latest = event.event.at;
    events.push(event.event);
  }
  return { events, findings };
}

/** An event as written, ready for a simulation: a builtin point's payload names its point. */
export function timelineEvent(
  { at, kind, payload }: SimulatedEvent,
  own: SessionRef,
): { ok: true; event: SimulatedEvent } | { ok: false; message: string; fix?: string } {
  const parsed = parseKind(kind, own);
  if (!parsed.ok) return parsed;
  const { input } = parsed;
  const whole = input.type === "builtin" ? { point: input.point, ...payload } : payload;
  return { ok: true, event: { at, kind: input.kind, payload: whole } };
}
