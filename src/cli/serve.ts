import process from "node:process";
import { EXIT } from "../errors/exit_codes.ts";
import { type AuditTrustOptions, requireStart } from "../runtime/audit_trust.ts";
import { type Finding, formatFinding } from "../errors/finding.ts";
import { formatError, isReynError, ReynError } from "../errors/reyn_error.ts";
import { loadDecisions } from "../decisions/load_decisions.ts";
import { decisionSetup } from "../runtime/decisions.ts";
import { type Hosting, openHosting } from "../runtime/serve.ts";
import { type Configurations, configurations } from "../runtime/serve_configuration.ts";
import { isLoopback, type ServerConfig } from "../runtime/serve_section.ts";
import { createMetrics } from "../server/metrics.ts";
import { openNotifier } from "../server/notify.ts";
import { readTokens } from "../server/tokens.ts";
import { startServer } from "../server/start.ts";
import { goOnWithoutReader } from "./closed_output.ts";
import { controlDir } from "./control_dir.ts";
import type { GlobalOptions, Host } from "./host.ts";
import { onSignals } from "./signals.ts";
import { VERSION } from "./version.ts";

export interface ServeOptions {
  globals: GlobalOptions;
  address: string | undefined;
  port: string | undefined;
}

/** Of `shutdown_grace`: what turns get; the rest is for the hooks at the end of sessions. */
const TURNS_SHARE = 0.5;
/** What requests that are under way get once all sessions have ended. */
const LAST_ANSWERS_MS = 500;

/** `reyn serve`: hosts all sessions of the control folder until a signal ends it. */
export async function serveVerb({ globals, address, port }: ServeOptions, host: Host): Promise<number> {
  const dir = controlDir(globals.dir);
  const talk = (line: string) => {
    if (!globals.quiet) process.stderr.write(line);
  };
  // All that is declared is looked at before anything is taken.
  const configs = configurations(dir);
  const configuration = await everyAgent(configs, { controlDir: dir, host, talk });
  const config = withFlags(configuration.server, address, port);
  const tokens = readTokens(config.tokens, process.env);
  const { place, deps } = decisionSetup(dir, globals.config, host.clock);
  const decisions = place === undefined || !globals.hooks ? undefined : await loadDecisions(place, deps);
  if (!globals.hooks) talk("hooks are switched off (--no-hooks)\n");

  goOnWithoutReader();
  const metrics = createMetrics({ clock: host.clock });
  const notifier = await openNotifier({
    env: process.env,
    clock: host.ioClock,
    onProblem: (reason) => talk(`the service manager is not told how reyn stands: ${reason}\n`),
  });
  const hosting = await openHosting({
    controlDir: dir,
    instrument: metrics.instrument,
    configuration,
    configurations: configs,
    host,
    hooks: globals.hooks,
    talk,
    onFailure(session, error) {
      const said = isReynError(error) ? formatError(error) : "E_INTERNAL (a fault in reyn)";
      talk(`session ${session} failed: ${said}\n`);
      if (process.env["REYN_DEBUG"] === "1" && error instanceof Error) talk(`${error.stack}\n`);
    },
  });

  metrics.watch(hosting);
  let stop = () => {};
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  const signals = onSignals({
    clock: host.clock,
    ioClock: host.ioClock,
    graceMs: configuration.shutdownGraceMs,
    stop: () => stop(),
    hangUp() {
      hosting.audit.emit("reload_requested", null, { outcome: "not_yet" });
      talk("SIGHUP: reloading is not there yet; what was read at the start stays\n");
    },
    async giveUp(why) {
      const left = hosting.loaded();
      talk(`gave up waiting (${why}); not ended: ${left.join(", ") || "none"}\n`);
      hosting.audit.emit("server_stopped", null, { cut: [], left });
      await hosting.abandon();
    },
  });
  try {
    const server = await startServer({
      hosting,
      config,
      tokens,
      version: VERSION,
      metrics: () => metrics.render(),
    });
    try {
      const due = await hosting.due();
      const sessions = due.length;
      hosting.audit.emit("server_started", null, { host: server.host, port: server.port, sessions });
      if (globals.json) {
        process.stdout.write(`${JSON.stringify({ type: "listening", url: server.url, pid: process.pid })}\n`);
      }
      talk(`reyn serve (pid ${process.pid}) listens on ${server.url}`);
      talk(sessions === 0 ? "\n" : `; ${sessions} sessions had something left to do\n`);
      notifier.ready(`listens on ${server.url}`);
      hosting.start(due);
      await stopped;
      notifier.stopping();
      await drain(hosting, configuration.shutdownGraceMs * TURNS_SHARE, talk);
    } finally {
      await server.close(LAST_ANSWERS_MS);
    }
  } finally {
    await hosting.close();
    await decisions?.close();
    notifier.close();
    signals.dispose();
  }
  return signals.received ? 128 + signals.received.number : EXIT.ok;
}

async function drain(hosting: Hosting, turnsMs: number, talk: (line: string) => void): Promise<void> {
  talk("stopping\n");
  const cut = await hosting.drain(turnsMs);
  if (cut.length > 0) talk(`interrupted the turns of ${cut.join(", ")}\n`);
  hosting.audit.emit("server_stopped", null, { cut, left: [] });
}

/** The configuration of `default`. Throws, with what is wrong, unless that of every declared agent can be used. */
async function everyAgent(configs: Configurations, options: AuditTrustOptions) {
  const base = configs.agent("default");
  const told = new Set<string>();
  const tell = (findings: readonly Finding[]) => {
    for (const line of findings.map(formatFinding)) {
      if (!told.has(line)) options.talk(`${line}\n`);
      told.add(line);
    }
  };
  await requireStart(base, options);
  tell(base.findings);
  for (const name of base.agents) {
    const own = configs.agent(name);
    await requireStart(own, options);
    tell(own.findings);
  }
  return base;
}

function withFlags(
  config: ServerConfig,
  address: string | undefined,
  port: string | undefined,
): ServerConfig {
  const host = address ?? config.host;
  const number = port === undefined ? config.port : Number(port);
  if (!/^\d{1,5}$/.test(port ?? "0") || number > 65535) {
    throw new ReynError("E_USAGE", "--port takes a number from 0 to 65535", { exitCode: EXIT.usage });
  }
  if (!isLoopback(host) && config.tokens.length === 0) {
    throw new ReynError(
      "E_SERVER_TOKENS",
      `${host} can be reached from other machines, and no tokens are declared`,
      { fix: "declare `server.tokens`, or listen on 127.0.0.1" },
    );
  }
  return { ...config, host, port: number };
}
