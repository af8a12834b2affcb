import type { AuditFilter } from "../audit/reader.ts";
import { AUDIT_GROUPS } from "../audit/events.ts";
import { isAuditType } from "../audit/groups.ts";
import { didYouMean } from "../config/suggest.ts";
import { EXIT } from "../errors/exit_codes.ts";
import { quote } from "../errors/quote.ts";
import { ReynError } from "../errors/reyn_error.ts";

/** What stands behind `reyn events`, as the command line gives it. */
export interface EventsOptions {
  /** `<agent>/<sid>`, or `<sid>` of `agent`, or of `default` where that is not given either. */
  session?: string;
  /** Alone: all sessions of this agent. */
  agent?: string;
  /** Types, separated by commas. */
  type?: string;
  /** A time (ISO 8601, UTC where it names no zone) or a duration back from now: `10m`, `500ms`, a number for seconds. */
  since?: string;
  follow?: boolean;
  json?: boolean;
}

const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/;
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const ISO = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$/;
const SESSION = /^[^/\s]+(\/[^/\s]+)?$/;

/** The filter that the options ask for. Throws ReynError E_USAGE. */
export function eventsFilter(options: EventsOptions, nowMs: number): AuditFilter {
  const filter: AuditFilter = {};
  if (options.session !== undefined) filter.session = parseSession(options.session, options.agent);
  else if (options.agent !== undefined) filter.agent = options.agent;
  if (options.type !== undefined) filter.types = parseTypes(options.type);
  if (options.since !== undefined) filter.sinceMs = parseSince(options.since, nowMs);
  return filter;
}

function parseSession(text: string, agent = "default"): string {
  if (!SESSION.test(text)) throw usage(`--session: ${quote(text)} names no session`, "write AGENT/ID, or ID");
  return text.includes("/") ? text : `${agent}/${text}`;
}

function parseTypes(text: string): Set<string> {
  const types = text.split(",").map((type) => type.trim()).filter((type) => type !== "");
  if (types.length === 0) throw usage("--type names no event");
  for (const type of types) {
    if (isAuditType(type)) continue;
    throw usage(`--type: unknown event ${quote(type)}`, didYouMean(type, Object.keys(AUDIT_GROUPS)));
  }
  return new Set(types);
}

function parseSince(text: string, nowMs: number): number {
  const duration = DURATION.exec(text);
  if (duration) return Math.max(0, nowMs - Number(duration[1]) * (UNIT_MS[duration[2] ?? "s"] ?? 1000));
  const iso = ISO.exec(text);
  if (iso) {
    const time = Date.parse(iso[1] && !iso[4] ? `${text}Z` : text);
    if (!Number.isNaN(time)) return time;
  }
  throw usage(
    `--since: ${quote(text)} is neither a time nor a duration`,
    "write 2026-01-31, 2026-01-31T09:30:00Z, or <N>ms, <N>s, <N>m, <N>h",
  );
}

function usage(message: string, fix?: string): ReynError {
  return new ReynError("E_USAGE", message, { exitCode: EXIT.usage, ...(fix === undefined ? {} : { fix }) });
}
