import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ask } from "./ask.ts";
import { pause, type Started } from "./process.ts";
import type { ServerCampaign } from "./server_campaign.ts";
import { BOARD } from "./server_world.ts";
import { becomesReady, recovers, tell } from "./server_recovers.ts";
import { makeImmutable, mountReadOnly, type Restore } from "./unwritable.ts";

export interface UnderFault {
  campaign: ServerCampaign;
  server: Started;
  rounds: number;
}

/** SQLite maps it into memory: the kernel would end whoever writes there. */
const IS_MAPPED = (name: string) => name === "reyn.db-shm";
const BOARD_PATH = `/api/sessions/${BOARD}`;
const MOST_LINES = 40;
const OUTAGE_MS = 2500;
/** What has to be written once more when it can be, is by then. */
const WRITTEN_AGAIN_MS = 2500;

/** While the state folder cannot be written messages are refused by a code and nothing is told twice; reads go on. */
export async function unwritableState({ campaign, server, rounds }: UnderFault): Promise<string[]> {
  const { world } = campaign;
  const sessions = join(world.dir, ".reyn", "agents", "default", "state", "sessions");
  const refusals = new Map<string, number>();
  while ((await ask({ to: { port: world.port }, path: BOARD_PATH })).status !== 200) await pause(50);
  for (let round = 0; round < rounds; round++) {
    await pause(300);
    const own = (await readdir(sessions).catch((): string[] => [])).map((name) => join(sessions, name));
    const restore = await makeImmutable([world.stateDir, world.eventsDir, ...own], IS_MAPPED);
    if (typeof restore !== "function") return [`SKIPPED: ${restore.refused}`];
    try {
      await outage(campaign, refusals);
    } finally {
      await restore();
    }
    await recovers(campaign, server);
    await becomesReady(campaign);
    await pause(WRITTEN_AGAIN_MS);
  }
  server.kill("SIGTERM");
  const { stderr } = await server.ended;
  for (const code of ["E_STATE_UNWRITABLE", "E_AUDIT_WRITE"]) {
    const times = stderr.match(new RegExp(`^${code} `, "gm"))?.length ?? 0;
    if (times !== rounds) campaign.violated(`${rounds} outages were told of ${times} times by ${code}`);
  }
  // With a line for each session's pending file, and for each attempt at a session, of which there are ever fewer.
  const told = stderr.split("\n").length;
  if (told > rounds * MOST_LINES) campaign.violated(`${told} lines in the log: ${stderr.slice(0, 1500)}`);
  const codes = [...refusals].map(([code, count]) => `${count} ${code}`).join(", ");
  return [`${rounds} times; refused: ${codes}; ${told} lines in the log`];
}

async function outage(campaign: ServerCampaign, refusals: Map<string, number>): Promise<void> {
  const { world, violated } = campaign;
  const to = { port: world.port };
  const until = performance.now() + OUTAGE_MS;
  let unwritable = 0;
  while (performance.now() < until) {
    const answer = await tell(campaign, "while nothing can be written");
    if (!answer) violated("a message is not answered while nothing can be written");
    else if (answer.status !== 503) violated(`while nothing can be written: ${answer.status} ${answer.body}`);
    else {
      const { error } = JSON.parse(answer.body) as { error: { code: string; fix?: string } };
      refusals.set(error.code, (refusals.get(error.code) ?? 0) + 1);
      if (error.code === "E_STATE_UNWRITABLE" && error.fix !== undefined) unwritable += 1;
    }
    for (const path of ["/healthz", "/api/status", "/api/sessions", BOARD_PATH]) {
      const read = await ask({ to, path }).catch(() => undefined);
      if (read?.status !== 200) {
        violated(`${path} while nothing can be written: ${read?.status} ${read?.body}`);
      }
    }
    await pause(20);
  }
  if (unwritable === 0) violated("nothing was refused with E_STATE_UNWRITABLE and its fix");
  const ready = await ask({ to, path: "/readyz" }).catch(() => undefined);
  if (ready?.status !== 503 || !ready.body.includes("state_unwritable")) {
    violated(`/readyz while nothing can be written: ${ready?.status} ${ready?.body}`);
  }
}

/** A log that cannot be written stops nothing, is told of once, and holds everything when it can be written again. */
export async function unwritableEvents({ campaign, server, rounds }: UnderFault): Promise<string[]> {
  const { world } = campaign;
  let taken = 0;
  for (let round = 0; round < rounds; round++) {
    // What is made only afterwards could be written.
    while ((await linesOf(world.eventsDir)).length < 10) await pause(100);
    const restore = await makeImmutable([world.eventsDir]);
    if (typeof restore !== "function") return [`SKIPPED: ${restore.refused}`];
    try {
      const until = performance.now() + OUTAGE_MS;
      while (performance.now() < until) {
        const answer = await tell(campaign, `unlogged ${round}.${taken}`);
        if (answer?.status === 202) taken += 1;
        else campaign.violated(`without a log a message got ${answer?.status} ${answer?.body}`);
        await pause(50);
      }
    } finally {
      await restore();
    }
    // It is tried again at least every five seconds.
    await pause(5500);
  }
  server.kill("SIGTERM");
  const { stderr } = await server.ended;
  const told = stderr.split("E_AUDIT_WRITE").length - 1;
  if (told !== rounds) campaign.violated(`${rounds} outages of the log were told of ${told} times`);
  if (stderr.includes("E_AUDIT_LOST")) campaign.violated("events were lost");
  const lines = await linesOf(world.eventsDir);
  const turns = lines.filter((line) => line.includes('"turn_started"') && line.includes("default/other"));
  if (turns.length < taken) {
    campaign.violated(`${taken} messages were taken, the log holds ${turns.length} turns`);
  }
  return [`${rounds} times; ${taken} messages taken meanwhile, all of their turns in the log afterwards`];
}

async function linesOf(dir: string): Promise<string[]> {
  const files = (await readdir(dir).catch((): string[] => [])).filter((name) => name.endsWith(".jsonl"));
  const texts = await Promise.all(files.map((name) => readFile(join(dir, name), "utf8")));
  return texts.flatMap((text) => text.split("\n"));
}

/** A start on a read-only file system is refused with a code, its place and its fix, and changes nothing. */
export async function unwritableStart(campaign: ServerCampaign): Promise<string[]> {
  const { world } = campaign;
  const root = join(world.dir, ".reyn");
  await mkdir(root, { recursive: true, mode: 0o700 });
  const tried: string[] = [];
  const look = async (when: string, folder: string): Promise<string | undefined> => {
    const mounted = await mountReadOnly(folder);
    if (typeof mounted !== "function") return `SKIPPED: ${mounted.refused}`;
    const restore: Restore = mounted;
    try {
      const before = (await readdir(root, { recursive: true })).sort().join();
      for (const args of [["serve"], ["run", "hello"], ["send", "hello"], ["gc"]]) {
        const run = await world.run(args);
        const says = `${args[0]} on a read-only folder, ${when}`;
        if (run.code !== 1) campaign.violated(`${says}: exit ${run.signal ?? run.code} ${run.stderr}`);
        const named = run.stderr.includes("E_STATE_UNWRITABLE") && run.stderr.includes(folder) &&
          run.stderr.includes("mount it for writing");
        if (!named) campaign.violated(`${says}: ${run.stderr}`);
        tried.push(says);
      }
      const after = (await readdir(root, { recursive: true })).sort().join();
      if (before !== after) campaign.violated(`${when}: ${before} became ${after}`);
    } finally {
      await restore();
    }
    return undefined;
  };
  const skipped = await look("before the first start", root);
  if (skipped !== undefined) return [skipped];
  const server = world.serve();
  await server.saw("\n");
  await pause(500);
  server.kill("SIGTERM");
  campaign.enter(await server.ended);
  await look("after a start", world.stateDir);
  return [`${tried.length} commands refused with E_STATE_UNWRITABLE, nothing changed`];
}
