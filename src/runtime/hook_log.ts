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

/** Of the log, the newest so many bytes are read, whole days at a time and the newest day in any case. */
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
  const sinceMs = await boundedSince(controlDir);
  const waiting = new Map<string, HookDetail>();
  const filter = { types: HOOK_EVENTS, sinceMs, ...(session === undefined ? {} : { session }) };
  for await (const { event } of readAudit({ dir: eventsDir(controlDir), filter, clock, onProblem })) {
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

/** Since when the log is read, in epoch milliseconds. */
export async function boundedSince(controlDir: string): Promise<number> {
  const dir = eventsDir(controlDir);
  const bytes = new Map<string, number>();
  for (const name of await readdir(dir).catch(() => [])) {
    const parsed = parseAuditFileName(name);
    if (!parsed) continue;
    const size = await stat(join(dir, name)).then((found) => found.size, () => 0);
    bytes.set(parsed.day, (bytes.get(parsed.day) ?? 0) + size);
  }
  let total = 0;
  let since: string | undefined;
  for (const day of [...bytes.keys()].sort().reverse()) {
    total += bytes.get(day) ?? 0;
    if (since !== undefined && total > MOST_BYTES) break;
    since = day;
  }
  return since === undefined ? 0 : Date.parse(since);
}

/** The first day that is read, `YYYY-MM-DD`, or null when all of the log is. */
export async function firstDayRead(controlDir: string): Promise<string | null> {
  const since = await boundedSince(controlDir);
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
