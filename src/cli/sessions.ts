import process from "node:process";
import { EXIT } from "../errors/exit_codes.ts";
import { escapeVisible } from "../errors/escape_visible.ts";
import { ReynError } from "../errors/reyn_error.ts";
import { withStoreForReading } from "../runtime/read_store.ts";
import type { ServerClient } from "../server/client.ts";
import { type SessionSummary, type SessionView, summarize, viewSession } from "../session/view.ts";
import { didYouMean } from "../config/suggest.ts";
import { controlDir } from "./control_dir.ts";
import type { GlobalOptions, Host } from "./host.ts";
import { askOrRead, tellSource, whoRuns } from "./told_source.ts";

/** What a listing is narrowed to. */
export interface SessionsWanted {
  agent: boolean;
  session: boolean;
}

/** A session as a server lists it. */
type ListedSession = SessionSummary & { loaded?: boolean; active?: boolean };

/** Rows that a server is asked for at once, so that it is never held up for long. */
const PAGE = 1000;

/** `reyn sessions list`: all sessions, or those that `--agent` and `--session` name where they were given. */
export async function listSessionsVerb(
  globals: GlobalOptions,
  wanted: SessionsWanted,
  host: Host,
): Promise<number> {
  const dir = controlDir(globals.dir);
  const isWanted = (id: string) => {
    if (wanted.session) return id === `${globals.agent}/${globals.session}`;
    return !wanted.agent || id.startsWith(`${globals.agent}/`);
  };
  const { value: sessions, source } = await askOrRead<ListedSession[]>(dir, host.ioClock, {
    ask: async (client) => (await listed(client)).filter(({ id }) => isWanted(id)),
    read: () =>
      withStoreForReading(dir, async ({ store, live }) => {
        return (await store.sessions()).filter(({ id }) => isWanted(id)).map((row) => summarize(row, live));
      }),
    from: "the store",
  });
  if (globals.json) process.stdout.write(`${JSON.stringify(sessions)}\n`);
  else process.stdout.write(sessions.map(summaryLine).join(""));
  if (sessions.length === 0 && !globals.json && !globals.quiet) process.stderr.write("no sessions\n");
  tellSource(globals, source);
  return EXIT.ok;
}

async function listed(client: ServerClient): Promise<ListedSession[]> {
  const all: ListedSession[] = [];
  for (let after = "";;) {
    const query = new URLSearchParams({ after, limit: String(PAGE) });
    const { sessions } = await client.get(`/api/sessions?${query}`) as { sessions: ListedSession[] };
    all.push(...sessions);
    const last = sessions.at(-1);
    if (!last || sessions.length < PAGE) return all;
    after = last.id;
  }
}

/** `reyn sessions show ID`. */
export async function showSessionVerb(globals: GlobalOptions, text: string): Promise<number> {
  const id = text.includes("/") ? text : `${globals.agent}/${text}`;
  const dir = controlDir(globals.dir);
  const view = await withStoreForReading(dir, async ({ store, live }) => {
    const row = await store.session(id);
    if (!row) throw unknownSession(id, (await store.sessions()).map((one) => one.id));
    return await viewSession(store, row, live);
  });
  process.stdout.write(globals.json ? `${JSON.stringify(view)}\n` : viewText(view));
  tellSource(globals, `read from the store; ${whoRuns(dir)}`);
  return EXIT.ok;
}

export function unknownSession(id: string, known: readonly string[]): ReynError {
  const fix = didYouMean(id, known) ?? "`reyn sessions list` shows them";
  return new ReynError("E_SESSION_UNKNOWN", `there is no session ${escapeVisible(id)}`, { fix });
}

function summaryLine(session: ListedSession): string {
  const { id, state, turns, waking, passive, valve, active } = session;
  const parts = [id, state, ...(active ? ["in a turn"] : []), `${turns} turns`];
  if (waking > 0) parts.push(`${waking} waiting`);
  if (passive > 0) parts.push(`${passive} passive`);
  if (valve.closed) parts.push(valve.asking ? "valve closed, asks to go on" : "valve closed");
  return `${parts.join("  ")}\n`;
}

function viewText(view: SessionView): string {
  const lines = [`${view.id}  ${view.state}`];
  const { count, cap, closed, extended = 0 } = view.valve;
  const most = cap === 0 ? "unlimited" : `${cap}${extended > 0 ? ` + ${extended} allowed` : ""}`;
  lines.push(`valve: ${count} of ${most}${closed ? ", closed" : ""}`);
  if (view.suspended_by !== null) lines.push(`suspended by: ${escapeVisible(view.suspended_by)}`);
  for (const { title, answered } of view.questions) {
    lines.push(`${answered ? "answered" : "asks"}: ${escapeVisible(title)}`);
  }
  let turn = 0;
  for (const message of view.history) {
    if (message.turn !== turn) lines.push(`turn ${turn = message.turn}`);
    lines.push(...indented(`  ${message.role}: `, message.text));
  }
  for (const { hook, text } of view.staged) {
    lines.push(`staged ${escapeVisible(hook)}: ${escapeVisible(text)}`);
  }
  for (const { kind, wake, text } of view.inbox) {
    lines.push(`inbox ${kind}${wake ? "" : " (passive)"}: ${escapeVisible(text)}`);
  }
  return `${lines.join("\n")}\n`;
}

/** A text of several lines below its label, each line escaped. */
function indented(label: string, text: string): string[] {
  return text.split("\n").map((line, index) => (index === 0 ? label : "    ") + escapeVisible(line));
}
