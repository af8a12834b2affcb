import { type Binaries, pinBinaries } from "./lib/binaries.ts";
import { ask } from "./lib/ask.ts";
import { labelsInSource } from "./lib/labels.ts";
import { pause, type Started } from "./lib/process.ts";
import { createRandom, type Random } from "./lib/random.ts";
import { tryBackup } from "./lib/server_backup.ts";
import { type ServerCampaign, startServerCampaign } from "./lib/server_campaign.ts";
import { numbers, runSuites, type SuiteResult } from "./lib/suite.ts";

export interface ServerKillPointsOptions {
  /** So many passings of each label, by the seed. */
  passings: number;
  seed: number;
  /** Of the labels only the first so many, by the seed; 0: all. */
  labels: number;
}

/** What has to go on so that the label is passed, and about how often it is then. */
interface Point {
  label: string;
  among: number;
  by: "load" | "gc" | "end" | "backup" | "interrupted";
}

/** From the push into an inbox to its consumption, and what runs beside. */
const POINTS: readonly Point[] = [
  { label: "session:after_opened", among: 4, by: "load" },
  { label: "session:after_start_hooks", among: 4, by: "load" },
  { label: "turn:before_consume", among: 60, by: "load" },
  { label: "turn:after_consume", among: 60, by: "load" },
  { label: "turn:after_turn_start_hooks", among: 60, by: "load" },
  { label: "turn:after_context", among: 60, by: "load" },
  { label: "turn:before_step", among: 60, by: "load" },
  { label: "turn:after_model", among: 60, by: "load" },
  { label: "turn:after_step", among: 60, by: "load" },
  { label: "turn:after_turn_end_hooks", among: 60, by: "load" },
  { label: "turn:after_end", among: 60, by: "load" },
  { label: "store:before_commit", among: 150, by: "load" },
  { label: "store:in_transaction", among: 150, by: "load" },
  { label: "store:after_commit", among: 150, by: "load" },
  { label: "pending:before_write", among: 60, by: "load" },
  { label: "pending:after_write", among: 60, by: "load" },
  { label: "composed:before_hooks", among: 60, by: "load" },
  { label: "composed:after_hooks", among: 60, by: "load" },
  { label: "store:in_migration", among: 1, by: "load" },
  { label: "session:after_end_hooks", among: 3, by: "end" },
  { label: "turn:after_retry", among: 1, by: "interrupted" },
  { label: "gc:in_events", among: 3, by: "gc" },
  { label: "gc:in_set_aside", among: 3, by: "gc" },
  { label: "store:in_forget", among: 1, by: "gc" },
  { label: "store:in_truncate", among: 1, by: "gc" },
  { label: "backup:before_database", among: 1, by: "backup" },
  { label: "store:in_copy", among: 1, by: "backup" },
  { label: "store:before_copy_named", among: 1, by: "backup" },
  { label: "backup:before_named", among: 1, by: "backup" },
];
/** Labels that a server does not pass in a way of its own, and where they are tried. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ["store:before_set_aside", "torn: a start on a damaged store, which is the same for all verbs"],
  ["store:in_set_aside", "torn"],
  ["valve:after_question", "case valve/ask_user_kill_unseen"],
  ["valve:after_answer", "case valve/ask_user_kill_answered"],
]);
const WAIT_MS = 25_000;
/** Turns of the board until its records are as many as make a snapshot. */
const TURNS_TO_A_SNAPSHOT = 450;

/** Kills a server under load at its labelled points, and again in the recovery, and checks from outside. */
export async function serverKillPointsSuite(
  binaries: Binaries,
  { passings, seed, labels }: ServerKillPointsOptions,
): Promise<SuiteResult> {
  const random = createRandom(seed);
  const chosen = [...POINTS];
  while (labels > 0 && chosen.length > labels) chosen.splice(random.below(chosen.length), 1);
  const violations = await unlisted();
  let kills = 0;
  for (const [index, point] of chosen.entries()) {
    const own = random.fork(index);
    const tried = new Set<number>();
    for (let passing = 0; passing < Math.min(passings, point.among); passing++) {
      let at = 1 + own.below(point.among);
      while (tried.has(at)) at = at % point.among + 1;
      tried.add(at);
      const outcome = await tryPoint(binaries, point, at, own);
      kills += outcome.kills;
      const found = outcome.violations.length;
      console.error(
        `${point.label}:${at}: ${outcome.kills} kills${found > 0 ? `, ${found} violations` : ""}`,
      );
      violations.push(...outcome.violations);
    }
  }
  return {
    name: "kills of a server at labelled points",
    passed: kills,
    violations,
    notes: [
      `seed ${seed}: ${kills} kills at ${chosen.length} labels under load from 8 senders, each recovery killed too`,
      ...[...ELSEWHERE].map(([label, where]) => `${label}: ${where}`),
    ],
  };
}

/** What the source marks and this does not try, and the other way round. */
async function unlisted(): Promise<string[]> {
  const marked = await labelsInSource();
  const listed = [...POINTS.map(({ label }) => label), ...ELSEWHERE.keys()];
  return [
    ...marked.filter((label) => !listed.includes(label)).map((label) =>
      `${label}: say in server_kill_points.ts what passes it`
    ),
    ...listed.filter((label) => !marked.includes(label)).map((label) => `the source has no ${label}`),
  ];
}

async function tryPoint(
  binaries: Binaries,
  point: Point,
  passing: number,
  random: Random,
): Promise<{ kills: number; violations: string[] }> {
  const campaign = await startServerCampaign(binaries, random);
  const killAt = `${point.label}:${passing}`;
  campaign.log(`killed at ${killAt}`);
  await prepare(campaign, point);
  let kills = 0;
  for (const life of [1, 2]) {
    const killed = point.by === "backup"
      ? await killBackup(campaign, killAt)
      : await killServer(campaign, point, killAt);
    if (killed) kills += 1;
    else if (life === 1) campaign.violated(`nothing comes to ${killAt}`);
    if (point.by === "backup") break;
    await campaign.check();
    // gc finds nothing old a second time, an interrupted turn is taken up once.
    if (point.by === "gc") await campaign.age();
    if (point.by === "interrupted" || point.label === "store:in_truncate") break;
  }
  await campaign.settle();
  return { kills, violations: await campaign.finish(`scripts/chaos/server_kill_points.ts (${killAt})`) };
}

async function prepare(campaign: ServerCampaign, { by, label }: Point): Promise<void> {
  const { world } = campaign;
  if (by === "gc") {
    const wanted = label === "store:in_truncate" ? TURNS_TO_A_SNAPSHOT : 10;
    await serveUntil(campaign, async () => await turnsOf(campaign, "board/main") >= wanted);
    await campaign.age();
  }
  if (by === "interrupted") {
    await world.script("- { say: late, delay: 60s }\n".repeat(8));
    await serveUntil(campaign, async () => await turnsOf(campaign, "default/s1") >= 0);
    await world.script("[]\n");
  }
}

/** Serves until it holds, and stops in order. */
async function serveUntil(campaign: ServerCampaign, holds: () => Promise<boolean>): Promise<void> {
  const server = campaign.world.serve();
  const until = performance.now() + 2 * WAIT_MS;
  let held = false;
  while (!held && performance.now() < until) {
    await pause(100);
    held = await holds().catch(() => false);
  }
  if (!held) campaign.violated("what has to come before the kill does not come");
  server.kill("SIGTERM");
  campaign.enter(await server.ended);
}

/** Turns that the session has ended; throws as long as it is not there. */
async function turnsOf({ world }: ServerCampaign, session: string): Promise<number> {
  const { status, body } = await ask({ to: { socketPath: world.socket }, path: "/api/sessions" });
  if (status !== 200) throw new Error(body);
  const { sessions } = JSON.parse(body) as { sessions: { id: string; turns: number }[] };
  const found = sessions.find(({ id }) => id === session);
  if (!found) throw new Error(`no ${session}`);
  return found.turns;
}

async function killServer(campaign: ServerCampaign, { by }: Point, killAt: string): Promise<boolean> {
  const { world } = campaign;
  const server = world.serve(killAt);
  const provoke = async () => {
    if (!await server.saw("\n")) return;
    const until = performance.now() + WAIT_MS;
    let gone = false;
    void server.ended.then(() => gone = true);
    while (!gone && performance.now() < until) {
      if (by === "gc") campaign.gc();
      if (by === "end") {
        const path = "/api/sessions/default/s1/end";
        await ask({ to: { socketPath: world.socket }, path, body: {} }).catch(() => {});
      }
      await Promise.race([pause(by === "gc" ? 1000 : 50), server.ended]);
    }
  };
  return await diesOf(campaign, server, provoke());
}

async function diesOf(campaign: ServerCampaign, server: Started, provoked: Promise<void>): Promise<boolean> {
  await Promise.race([server.ended, provoked, pause(WAIT_MS)]);
  let asked = false;
  const timer = setTimeout(() => {
    asked = true;
    server.kill("SIGTERM");
  }, 50);
  const run = await server.ended;
  clearTimeout(timer);
  campaign.enter(run);
  if (run.signal === "SIGKILL" && !run.hung) return true;
  if (!asked) campaign.violated(`it ended by itself: ${run.signal ?? run.code}: ${run.stderr.slice(0, 300)}`);
  return false;
}

/** Kills a backup of a server that runs, and makes another. */
async function killBackup(campaign: ServerCampaign, killAt: string): Promise<boolean> {
  const server = campaign.world.serve();
  await server.saw("\n");
  await pause(200);
  const killed = await tryBackup(campaign, "kept", { killAt });
  await tryBackup(campaign, "kept");
  server.kill("SIGTERM");
  campaign.enter(await server.ended);
  return killed === "killed";
}

if (import.meta.main) {
  const options = numbers({ passings: 3, seed: Date.now() % 1_000_000, labels: 0 });
  const binaries = await pinBinaries();
  await runSuites([() => serverKillPointsSuite(binaries, options)], () => binaries.remove());
}
