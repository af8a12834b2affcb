import { escapeVisible } from "../errors/escape_visible.ts";
import type { AuditEvent } from "./audit.ts";
import { type AuditGroup, groupOf } from "./groups.ts";

export interface RenderOptions {
  /** ANSI colours. Default false. */
  colour?: boolean;
  /** The current UTC day, `YYYY-MM-DD`: events of other days are shown with their date. Default: none is. */
  today?: string;
}

/**
 * One event as one line, without a newline: `12:34:56.789 default/main turn_started human seq=3`. Times are UTC. Fields
 * that are null, false or empty are left out, a true one is its bare name; whatever could move a terminal's cursor or
 * hide is shown as `\u{…}`. A run of an exec hook reads `exec: <command> [rc=N]`.
 */
export function renderEvent(event: AuditEvent, options: RenderOptions = {}): string {
  const { colour = false, today } = options;
  const paint = (code: string, text: string) => colour && text !== "" ? `\x1b[${code}m${text}\x1b[0m` : text;
  const exec = renderExec(event);
  const group = groupOf(event.type) ?? (exec === null ? undefined : "tool");
  const hue = group === undefined ? "0" : HUES[group];
  const parts = [
    paint("2", renderTime(event.timestamp, today)),
    escapeVisible(event.session ?? "-"),
    ...(exec === null
      ? [paint(hue, escapeVisible(event.type)), renderData(event.type, event.data)]
      : [paint(hue, exec)]),
  ];
  return parts.filter((part) => part !== "").join(" ");
}

const HUES: Record<AuditGroup, string> = {
  session: "32",
  turn: "36",
  hook: "35",
  tool: "34",
  safety: "31",
  runtime: "33",
};

/** Fields that are shown first, as bare values. */
const BARE: Readonly<Record<string, readonly string[]>> = {
  session_started: ["agent_name"],
  session_completed: ["agent_name"],
  session_interrupted: ["agent_name"],
  chat_started: ["agent_name"],
  chat_stopped: ["agent_name"],
  turn_started: ["kind"],
  turn_completed: ["status"],
  turn_settled: ["kind"],
  model_step: ["outcome"],
  hooks_evaluated: ["point"],
  hook_push_fired: ["hook_name", "point"],
  hook_failed: ["hook", "point", "code"],
  hook_skipped: ["hook", "point", "reason"],
  "hooks.loaded": ["config"],
  "hooks.decided": ["hook", "point"],
  "hooks.failed": ["hook", "point", "error"],
  "hooks.refused": ["hook", "point", "reason"],
  inbox_refused: ["kind", "reason"],
  inbox_dropped: ["reason"],
  intervention_asked: ["kind"],
  intervention_answered: ["kind", "answer"],
  intervention_closed: ["kind", "reason"],
  safety_limit_checkpoint: ["kind", "action"],
  session_halted: ["reason"],
  layer_skipped: ["layer", "file"],
  audit_dropped: ["reason"],
  store_set_aside: ["path", "reason"],
};

/** Counters that say something only when they are above 0. */
const ZERO_IS_NOTHING: ReadonlySet<string> = new Set(["hook_driven_turns", "extension"]);

function renderTime(timestamp: string, today: string | undefined): string {
  const iso = new Date(timestamp).toISOString();
  const day = iso.slice(0, 10);
  const time = iso.slice(11, 23);
  return today === undefined || day === today ? time : `${day} ${time}`;
}

function renderExec({ type, data }: AuditEvent): string | null {
  const { mode, command, returncode, outcome } = data;
  if (type !== "hook_shell_executed" || typeof command !== "string") return null;
  let suffix = "";
  if (typeof returncode === "number" && returncode !== 0) suffix = ` [rc=${returncode}]`;
  else if (typeof returncode !== "number") {
    suffix = ` [${typeof outcome === "string" ? renderText(outcome) : "no rc"}]`;
  }
  return `${mode === "exec_capture" ? "exec_capture" : "exec"}: ${escapeVisible(command)}${suffix}`;
}

function renderData(type: string, data: Record<string, unknown>): string {
  const bare = (Object.hasOwn(BARE, type) ? BARE[type] : undefined) ?? [];
  const parts = bare.map((field) => isNothing(field, data[field]) ? "" : renderValue(data[field]));
  for (const [field, value] of Object.entries(data)) {
    if (bare.includes(field) || isNothing(field, value)) continue;
    const name = escapeVisible(field);
    parts.push(value === true ? name : `${name}=${renderValue(value)}`);
  }
  return parts.filter((part) => part !== "").join(" ");
}

function isNothing(field: string, value: unknown): boolean {
  if (value === 0) return ZERO_IS_NOTHING.has(field);
  return value === null || value === undefined || value === false || value === "";
}

/** Words as they are, other text in quotes, lists as `[a,b]`, objects as `{a:b,c:d}`. */
function renderValue(value: unknown): string {
  if (typeof value === "string") return renderText(value);
  if (Array.isArray(value)) return `[${value.map(renderValue).join(",")}]`;
  if (typeof value !== "object" || value === null) return String(value);
  return `{${
    Object.entries(value).map(([key, item]) => `${renderText(key)}:${renderValue(item)}`).join(",")
  }}`;
}

function renderText(text: string): string {
  if (/^[^\s"\\=,{}[\]]+$/u.test(text)) return escapeVisible(text);
  return `"${escapeVisible(text.replace(/["\\]/g, "\\$&"))}"`;
}
