import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import type { Binaries } from "./binaries.ts";
import { type Ended, start, type Started } from "./process.ts";

/**
 * A control folder whose sessions a server hosts: those of `default` push into `board/main` at the end of each turn, and have a
 * durable composer that fires at each, and one that is armed by each and fires a moment later.
 */
export interface ServerWorld {
  readonly root: string;
  readonly dir: string;
  readonly stateDir: string;
  readonly eventsDir: string;
  readonly socket: string;
  readonly port: number;
  /** The test binary, which ends itself at `killAt` (`<label>[:<n>]`) where that is given. */
  serve(killAt?: string): Started;
  /** Another verb beside it, without waiting. */
  start(args: readonly string[], options?: { killAt?: string; limitMs?: number }): Started;
  run(args: readonly string[]): Promise<Ended>;
  /** What the model of `default` says from the next start on. */
  script(yaml: string): Promise<void>;
}

export const TOKEN = "0123456789abcdef0123456789abcdef";
export const BOARD = "board/main";
/** A life of a server is never longer. */
const LIFE_MS = 180_000;

/** Id of what the turn of a session puts on the board when it ends. */
export function relayId(session: string, turn: number): string {
  return `${session}/${turn}/turn_end/startup:relay`;
}

/** Ids of what the composers publish for a turn. */
export function composedIds(session: string, turn: number): { each: string; late: string } {
  const cause = `${session}/${turn}/turn_end`;
  return { each: `each@${cause}`, late: `late@${cause}` };
}

/** Id of what the hook on a composed event pushes. */
export function composedPushId(eventId: string): string {
  return `${eventId}/startup:${eventId.split("@", 1)[0]}`;
}

const PROJECT = `composers:
  - name: each
    op: count
    count: 1
    durable: true
    inputs: [{ kind: turn_end, match: { agent_name: default } }]
    emit: { kind: composed:each }
  - name: late
    op: deadline
    on: turn_end
    matcher: { agent_name: default }
    until: { on: session_end, matcher: { agent_name: nobody } }
    correlate_by: user_text
    ttl: 60ms
    policy: { capacity: 10000 }
hooks:
  - { name: each, on: composed:each, template_push: { message: "it ended", wake: false } }
  - { name: late, on: composed:late, template_push: { message: "it ended a while ago", wake: false } }
  - { name: about, on: turn_start, template_push: { message: "a turn of {{ kind }}", wake: false } }
  - name: relay
    on: turn_end
    matcher: { agent_name: default }
    template_push: { message: "{{ user_text }}", session: ${BOARD} }
`;

export async function createServerWorld(binaries: Binaries): Promise<ServerWorld> {
  const root = await mkdtemp(join(binaries.scratch, "server-"));
  const dir = join(root, "control");
  const home = join(root, "home");
  await mkdir(join(home, ".reyn"), { recursive: true, mode: 0o700 });
  await mkdir(dir);
  // One that stays the same over all starts, as an operator's does: each has to get it back at once.
  const port = await freePort();
  await writeFile(join(dir, "reyn.yaml"), PROJECT);
  await writeFile(join(dir, "script.yaml"), "[]\n");
  await writeFile(
    join(home, ".reyn", "config.yaml"),
    `model: { provider: scripted, script: "${join(dir, "script.yaml")}" }
agents: { board: { model: { provider: echo } } }
safety: { loop: { max_hook_driven_turns: 0 } }
shutdown_grace: 1s
server: { port: ${port}, tokens: [{ name: chaos, env: REYN_CHAOS, scopes: [observe, send, admin] }] }
`,
    { mode: 0o600 },
  );
  const env = { PATH: "/usr/bin:/bin", HOME: home, LANG: "C.UTF-8", NO_COLOR: "1", REYN_CHAOS: TOKEN };
  const begin: ServerWorld["start"] = (args, { killAt, limitMs } = {}) =>
    start(binaries.reynTest, args, {
      cwd: dir,
      env: killAt === undefined ? env : { ...env, REYN_TEST_KILL_AT: killAt },
      ...(limitMs === undefined ? {} : { limitMs }),
    });
  return {
    root,
    dir,
    stateDir: join(dir, ".reyn", "state"),
    eventsDir: join(dir, ".reyn", "events"),
    socket: join(dir, ".reyn", "state", "control.sock"),
    port,
    serve: (killAt) =>
      begin(["serve", "--json"], {
        limitMs: LIFE_MS,
        ...(killAt === undefined ? {} : { killAt }),
      }),
    start: begin,
    run: (args) => begin(args).ended,
    script: (yaml) => writeFile(join(dir, "script.yaml"), yaml),
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}
