import process from "node:process";
import { sleep } from "../clock/clock.ts";
import { duration } from "../config/scalars.ts";
import { EXIT } from "../errors/exit_codes.ts";
import { escapeVisible } from "../errors/escape_visible.ts";
import { isReynError, ReynError } from "../errors/reyn_error.ts";
import { quote } from "../errors/quote.ts";
import { withStoreForReading } from "../runtime/read_store.ts";
import { connectServer } from "../server/client.ts";
import { findServer } from "../server/find_server.ts";
import type { StatusBody } from "../server/routes/status.ts";
import { controlDir } from "./control_dir.ts";
import type { GlobalOptions, Host } from "./host.ts";
import { tellSource, whoRuns } from "./told_source.ts";

const AGAIN_MS = 100;
/** For an answer when the time is nearly over. */
const LEAST_MS = 1000;

/** `reyn status`: exit 0 when a server runs and is ready, 1 when not, 124 when it was waited for in vain. */
export async function statusVerb(
  { globals, wait }: { globals: GlobalOptions; wait: string | undefined },
  host: Host,
): Promise<number> {
  const dir = controlDir(globals.dir);
  const waitMs = wait === undefined ? 0 : waitOf(wait);
  const until = host.ioClock.monotonic() + waitMs;
  const left = () => until - host.ioClock.monotonic();
  let status = await ask(dir, host, waitMs > 0 ? waitMs : undefined);
  while (waitMs > 0 && status?.ready !== true && left() > 0) {
    await sleep(host.ioClock, AGAIN_MS);
    status = await ask(dir, host, Math.max(0, left()));
  }
  if (status) tell(status, globals);
  else await tellAlone(dir, globals);
  if (status?.ready === true) return EXIT.ok;
  return waitMs > 0 ? EXIT.timeout : EXIT.refused;
}

/** With `waitMs`, a server that does not answer yet counts as none. */
async function ask(dir: string, host: Host, waitMs: number | undefined): Promise<StatusBody | undefined> {
  try {
    const patience = waitMs === undefined ? {} : { patienceMs: waitMs };
    const client = await connectServer(dir, host.ioClock, patience);
    const answerMs = waitMs === undefined ? undefined : Math.max(LEAST_MS, waitMs);
    return client && await client.get("/api/status", answerMs) as StatusBody;
  } catch (error) {
    if (waitMs !== undefined && isReynError(error) && error.code === "E_SERVER_UNREACHABLE") return undefined;
    throw error;
  }
}

function tell(status: StatusBody, { json, quiet }: GlobalOptions): void {
  const source = `asked reyn serve, pid ${status.pid}`;
  if (json) {
    process.stdout.write(`${JSON.stringify({ running: true, ...status })}\n`);
    return tellSource({ quiet }, source);
  }
  const { pid, url, started_at, ready, reasons, sessions, questions, memory_bytes } = status;
  const lines = [
    `reyn serve (pid ${pid}) since ${started_at}${url === null ? "" : ` on ${url}`}`,
    `${sessions.loaded} sessions loaded, ${sessions.active} in a turn; ${Math.round(memory_bytes / 1e6)} MB`,
    ...(questions === 0 ? [] : [`questions: ${questions ?? "unknown"}`]),
    ready ? "ready" : "not ready:",
    ...reasons.map(({ code, detail }) =>
      `  ${code}${detail === undefined ? "" : `: ${escapeVisible(detail)}`}`
    ),
  ];
  process.stdout.write(`${lines.join("\n")}\n`);
  tellSource({ quiet }, source);
}

async function tellAlone(dir: string, { json, quiet }: GlobalOptions): Promise<void> {
  const counts = await withStoreForReading(dir, async ({ store }) => {
    const rows = await store.sessions();
    return { sessions: rows.length, waiting: rows.filter(({ waking }) => waking > 0).length };
  });
  const server = findServer(dir);
  const text = json ? JSON.stringify({ running: server !== undefined, ready: false, ...counts }) : [
    server ? `reyn serve (pid ${server.pid}) does not answer` : "no server runs",
    `${counts.sessions} sessions, ${counts.waiting} with messages waiting`,
  ].join("; ");
  process.stdout.write(`${text}\n`);
  tellSource({ quiet }, `read from the store; ${whoRuns(dir)}`);
}

function waitOf(text: string): number {
  const parsed = duration().safeParse(/^\d+(\.\d+)?$/.test(text) ? Number(text) : text);
  if (parsed.success) return parsed.data;
  throw new ReynError("E_USAGE", `--wait: ${quote(text)} is not a duration`, {
    fix: "write <N>ms, <N>s, <N>m or <N>h",
    exitCode: EXIT.usage,
  });
}
