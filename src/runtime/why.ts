import { readAudit } from "../audit/reader.ts";
import type { AuditEvent } from "../audit/audit.ts";
import type { Clock } from "../clock/clock.ts";
import type { Finding } from "../errors/finding.ts";
import { type Hook, targetKey } from "../hooks/hook.ts";
import { hookRegistry } from "../hooks/registry.ts";
import { REACTIONS } from "../points/reactions.ts";
import type { Configuration } from "./configuration.ts";
import { explainVerdict } from "./explain_verdict.ts";
import { stateOf } from "./hook_listing.ts";
import { firstDayRead, type HookFiring, logBounds, readFirings } from "./hook_log.ts";
import { eventsDir } from "./places.ts";

/** What became of one hook at one firing. */
export interface Explained {
  /** Id of the firing's event. */
  event: string;
  timestamp: string;
  session: string | null;
  point: string;
  hook: string;
  verdict: string;
  text: string;
}

export interface WhyHook {
  hook: string;
  /** Null for one that the log knows and no layer declares any more. */
  declared: { layer: string; point: string; scheme: string; state: string } | null;
  /** What stands in its way now, or why it has nothing to tell. */
  notes: string[];
  /** How often each verdict was given. */
  counts: Record<string, number>;
  /** The newest firings, oldest first. */
  firings: Explained[];
}

export interface WhyOptions {
  configuration: Configuration;
  controlDir: string;
  clock: Clock;
  /** Most firings that are told. */
  last: number;
  onProblem: (problem: Finding) => void;
}

/** Why a hook did or did not run, by the log; undefined when neither the log nor a layer knows it. */
export async function whyHook(name: string, options: WhyOptions): Promise<WhyHook | undefined> {
  const { configuration, controlDir, last } = options;
  const hook = hookRegistry(configuration.hooks).all.find((one) => one.label === name);
  const counts: Record<string, number> = {};
  const firings: Explained[] = [];
  let pointFired = 0;
  for await (const firing of readFirings(options)) {
    if (hook && firing.point === targetKey(hook.target)) pointFired += 1;
    const verdict = firing.verdicts.get(name);
    if (verdict === undefined) continue;
    counts[verdict] = (counts[verdict] ?? 0) + 1;
    firings.push(explained(firing, name, verdict, hook));
    if (firings.length > last) firings.shift();
  }
  if (!hook && firings.length === 0) return undefined;
  const since = await firstDayRead(controlDir);
  return {
    hook: name,
    declared: hook
      ? {
        layer: hook.layer,
        point: targetKey(hook.target),
        scheme: hook.action.scheme,
        state: stateOf(hook, configuration),
      }
      : null,
    notes: notesOf(hook, configuration, firings.length > 0, pointFired, since),
    counts,
    firings,
  };
}

function notesOf(
  hook: Hook | undefined,
  configuration: Configuration,
  hasFired: boolean,
  pointFired: number,
  since: string | null,
): string[] {
  if (!hook) return ["no layer that is read declares it now", ...skippedNotes(configuration)];
  const state = stateOf(hook, configuration);
  const notes: string[] = [];
  if (state === "disabled") notes.push("its entry says enabled: false");
  if (state === "disabled_here") notes.push("this session has disabled it");
  if (hasFired) return notes;
  const point = targetKey(hook.target);
  const when = since === null ? "since the log begins" : `since ${since}`;
  const fires = hook.target.kind === "builtin" ? `: it fires when ${REACTIONS[hook.target.point].fires}` : "";
  notes.push(
    pointFired === 0
      ? `${point} has not fired ${when} where hooks are at it${fires}`
      : `${point} has fired ${pointFired} times ${when}, before this hook was declared there`,
  );
  return notes;
}

function skippedNotes({ skipped }: Configuration): string[] {
  return skipped.map(({ layer, file }) =>
    `${file} of the ${layer} layer is left out (\`reyn check\` says why)`
  );
}

export type WhyEvent =
  | { status: "hooks"; event: AuditEvent; hooks: Explained[] }
  /** It is in the log, and no hook was looked at for it. */
  | { status: "none"; event: AuditEvent }
  | { status: "unknown" };

/** What became of each hook at an event: a firing itself, or what a hook or a turn did there. */
export async function whyEvent(id: string, options: WhyOptions): Promise<WhyEvent> {
  const { configuration, controlDir, clock, onProblem } = options;
  const event = await eventOf(id, controlDir, clock, onProblem);
  if (!event) return { status: "unknown" };
  const hooks = hookRegistry(configuration.hooks).all;
  const { hook } = event.data;
  const point = POINT_OF[event.type];
  let reached = false;
  const session = event.session === null ? {} : { session: event.session };
  for await (const firing of readFirings({ ...options, ...session })) {
    reached ||= firing.id === id || firing.timestamp >= event.timestamp;
    const is = firing.id === id ||
      (reached && typeof hook === "string" && firing.verdicts.has(hook)) ||
      (reached && point !== undefined && firing.point === point);
    if (!is) continue;
    const told = [...firing.verdicts].map(([label, verdict]) =>
      explained(firing, label, verdict, hooks.find((one) => one.label === label))
    );
    return { status: "hooks", event, hooks: told };
  }
  return { status: "none", event };
}

/** The point that fires with an event that is none itself. */
const POINT_OF: Readonly<Record<string, string>> = {
  session_started: "session_start",
  session_completed: "session_end",
  turn_started: "turn_start",
  turn_completed: "turn_end",
};

async function eventOf(
  id: string,
  controlDir: string,
  clock: Clock,
  onProblem: (problem: Finding) => void,
): Promise<AuditEvent | undefined> {
  const { sinceMs, tails } = await logBounds(controlDir);
  const tailBytes = (name: string) => tails.get(name);
  const dir = eventsDir(controlDir);
  for await (const { event } of readAudit({ dir, filter: { sinceMs }, clock, onProblem, tailBytes })) {
    if (event.id === id) return event;
  }
  return undefined;
}

function explained(firing: HookFiring, hook: string, verdict: string, declared: Hook | undefined): Explained {
  return {
    event: firing.id,
    timestamp: firing.timestamp,
    session: firing.session,
    point: firing.point,
    hook,
    verdict,
    text: explainVerdict(verdict, firing.details.get(hook), declared?.matcher?.patterns),
  };
}
