import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { DAY_MS, dayOf, parseAuditFileName } from "../audit/file_name.ts";
import { readAudit } from "../audit/reader.ts";
import type { Clock } from "../clock/clock.ts";
import type { Finding } from "../errors/finding.ts";
import { eventsDir } from "./places.ts";

/** What the log says of one hook at one firing, besides its verdict. */
export interface HookDetail {
  /** Of a failure. */
  code?: string;
  error?: string;
  /** Of a refusal: consent_refused, sandbox_unconfirmed; and what was missing. */
  reason?: string;
  missing?: string;
  /** Of a command that ran. */
  outcome?: string;
  returncode?: number;
  denial?: string;
}

/** One firing of a point that has hooks. */
export interface HookFiring {
  /** Of the event `hooks_evaluated`. */
  id: string;
  timestamp: string;
  session: string | null;
  point: string;
  /** By the hook's label: see `Verdict`. */
  verdicts: ReadonlyMap<string, string>;
  details: ReadonlyMap<string, HookDetail>;
}

export interface ReadFiringsOptions {
  controlDir: string;
  clock: Clock;
  session?: string;
  onProblem: (problem: Finding) => void;
}

/** Of the log, the newest so many bytes are read: whole days at a time, and of a larger newest day the end of its files. */
const MOST_BYTES = 64 * 1024 * 1024;
/** Details that wait for the verdict they belong to. */
const MOST_WAITING = 4096;

export const HOOK_EVENTS: ReadonlySet<string> = new Set([
  "hooks_evaluated",
  "hook_failed",
  "hook_exec_refused",
  "hook_shell_executed",
]);

/** Firings in order of time, each with what happened to its hooks. */
export async function* readFirings(options: ReadFiringsOptions): AsyncGenerator<HookFiring> {
  const { controlDir, clock, session, onProblem } = options;
  const { sinceMs, tails } = await logBounds(controlDir);
  const waiting = new Map<string, HookDetail>();
  const filter = { types: HOOK_EVENTS, sinceMs, ...(session === undefined ? {} : { session }) };
  const dir = eventsDir(controlDir);
  const tailBytes = (name: string) => tails.get(name);
  for await (const { event } of readAudit({ dir, filter, clock, onProblem, tailBytes })) {
    const place = (hook: string) => `${event.session ?? ""}\n${hook}`;
    if (event.type !== "hooks_evaluated") {
      const { hook } = event.data;
      if (typeof hook !== "string") continue;
      const before = waiting.get(place(hook));
      waiting.set(place(hook), { ...before, ...detailOf(event.data) });
      const [oldest] = waiting.keys();
      if (waiting.size > MOST_WAITING && oldest !== undefined) waiting.delete(oldest);
      continue;
    }
    const { point, verdicts } = event.data;
    const found = new Map<string, string>();
    const details = new Map<string, HookDetail>();
    for (const [hook, verdict] of Object.entries(isRecord(verdicts) ? verdicts : {})) {
      if (typeof verdict !== "string") continue;
      found.set(hook, verdict);
      const detail = waiting.get(place(hook));
      // What is queued has its own record later, and the detail belongs to that one.
      if (!detail || verdict === "queued") continue;
      details.set(hook, detail);
      waiting.delete(place(hook));
    }
    yield {
      id: event.id,
      timestamp: event.timestamp,
      session: event.session,
      point: typeof point === "string" ? point : "",
      verdicts: found,
      details,
    };
  }
}

/** What of the log is read: since when, in epoch milliseconds, and of files that are read in part how many bytes at their end. */
export async function logBounds(
  controlDir: string,
  mostBytes = MOST_BYTES,
): Promise<{ sinceMs: number; tails: ReadonlyMap<string, number> }> {
  const dir = eventsDir(controlDir);
  const days = new Map<string, [name: string, size: number][]>();
  for (const name of await readdir(dir).catch(() => [])) {
    const parsed = parseAuditFileName(name);
    if (!parsed) continue;
    const size = await stat(join(dir, name)).then((found) => found.size, () => 0);
    days.set(parsed.day, [...days.get(parsed.day) ?? [], [name, size]]);
  }
  let total = 0;
  let since: string | undefined;
  for (const day of [...days.keys()].sort().reverse()) {
    total += (days.get(day) ?? []).reduce((sum, [, size]) => sum + size, 0);
    if (since !== undefined && total > mostBytes) break;
    since = day;
  }
  if (since === undefined) return { sinceMs: 0, tails: new Map() };
  return { sinceMs: Date.parse(since), tails: sharedOut(days.get(since) ?? [], mostBytes) };
}

/** Small files whole, and the large ones as much as each other. */
function sharedOut(files: readonly [name: string, size: number][], most: number): Map<string, number> {
  const tails = new Map<string, number>();
  let left = most;
  [...files].sort(([, a], [, b]) => a - b).forEach(([name, size], i) => {
    const share = Math.floor(left / (files.length - i));
    if (size > share) tails.set(name, share);
    left -= Math.min(size, share);
  });
  return tails;
}

/** The first day of which something is read, `YYYY-MM-DD`, or null when all of the log is. */
export async function firstDayRead(controlDir: string): Promise<string | null> {
  const { sinceMs: since, tails } = await logBounds(controlDir);
  if (tails.size > 0) return dayOf(since);
  const days = (await readdir(eventsDir(controlDir)).catch(() => [])).flatMap((name) =>
    parseAuditFileName(name)?.day ?? []
  );
  return days.some((day) => Date.parse(day) < since - DAY_MS / 2) ? dayOf(since) : null;
}

function detailOf(data: Record<string, unknown>): HookDetail {
  const text = (key: string, as: keyof HookDetail) => {
    const value = data[key];
    return typeof value === "string" ? { [as]: value } : {};
  };
  const { returncode } = data;
  return {
    ...text("code", "code"),
    ...text("error", "error"),
    ...text("reason", "reason"),
    ...text("detail", "missing"),
    ...text("outcome", "outcome"),
    ...text("denial_class", "denial"),
    ...(typeof returncode === "number" ? { returncode } : {}),
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
