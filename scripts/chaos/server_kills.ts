import { type Binaries, pinBinaries } from "./lib/binaries.ts";
import { pause } from "./lib/process.ts";
import { createRandom, type Random } from "./lib/random.ts";
import { ask } from "./lib/ask.ts";
import { tryBackup } from "./lib/server_backup.ts";
import { type ServerCampaign, startServerCampaign } from "./lib/server_campaign.ts";
import { readStored } from "./lib/stored.ts";
import { numbers, runSuites, type SuiteResult } from "./lib/suite.ts";

export interface ServerKillsOptions {
  /** Servers that a SIGKILL has to end. */
  kills: number;
  seed: number;
  /** No new life begins after this; 0: no bound. */
  seconds: number;
  /** Only this campaign; 0: all. */
  campaign: number;
  /** Kills a folder goes through. */
  each: number;
}

interface Figures {
  kills: number;
  terms: number;
  early: number;
  messages: number;
  acknowledged: number;
  retries: number;
  duplicates: number;
  gcs: number;
  backups: number;
  cutBackups: number;
  ends: number;
  snapshots: number;
  truncated: number;
}

/** How long a server may live behind its start, at most, in milliseconds. */
const LIFE_MS = 1000;

/**
 * Kills a server at random instants (of its start, too) under load from eight senders, while gc and backups run and sessions
 * are ended, and checks from outside that nothing acknowledged is lost, nothing is taken twice, and order is kept.
 */
export async function serverKillsSuite(
  binaries: Binaries,
  options: ServerKillsOptions,
): Promise<SuiteResult> {
  const { seed, kills, seconds, each } = options;
  const figures: Figures = {
    kills: 0,
    terms: 0,
    early: 0,
    messages: 0,
    acknowledged: 0,
    retries: 0,
    duplicates: 0,
    gcs: 0,
    backups: 0,
    cutBackups: 0,
    ends: 0,
    snapshots: 0,
    truncated: 0,
  };
  const until = seconds > 0 ? performance.now() + seconds * 1000 : Infinity;
  const violations: string[] = [];
  let index = Math.max(1, options.campaign);
  do {
    const wanted = options.campaign > 0 ? each : Math.min(each, kills - figures.kills);
    violations.push(...await runCampaign(binaries, { seed, index, wanted, each, until, figures }));
    index += 1;
  } while (
    options.campaign === 0 && figures.kills < kills && performance.now() < until && violations.length < 5
  );
  const f = figures;
  return {
    name: "kills of a server at random instants",
    passed: f.kills,
    violations,
    notes: [
      `seed ${seed}: ${f.kills} kills (${f.early} before it listened) and ${f.terms} SIGTERMs in ${
        index - Math.max(1, options.campaign)
      } folders`,
      `${f.messages} messages of 8 senders, ${f.acknowledged} acknowledged, ${f.retries} sent again, ${f.duplicates} of those were there already; ` +
      `${violations.length} violations`,
      `meanwhile ${f.gcs} gc, ${f.backups} whole backups and ${f.cutBackups} cut ones, ${f.ends} sessions ended; ` +
      `${f.snapshots} sessions with snapshots, ${f.truncated} with records removed`,
    ],
  };
}

interface Plan {
  seed: number;
  index: number;
  wanted: number;
  each: number;
  until: number;
  figures: Figures;
}

async function runCampaign(binaries: Binaries, plan: Plan): Promise<string[]> {
  const { seed, index, wanted, until, figures } = plan;
  const random = createRandom(seed).fork(index);
  const campaign = await startServerCampaign(binaries, random.fork(1000));
  const { world } = campaign;
  const slow = random.chance(0.4);
  if (slow) await world.script("- { say: slowly, delay: 4ms }\n".repeat(300));
  let startMs = 300;
  let killed = 0;
  let number = 0;
  while (killed < wanted && performance.now() < until && campaign.violations.length === 0) {
    number += 1;
    const server = world.serve();
    const began = performance.now();
    const ready = server.saw("\n").then((is) => {
      if (is) startMs = startMs * 0.8 + (performance.now() - began) * 0.2;
      return is;
    });
    const early = random.chance(0.2);
    if (early) await Promise.race([pause(random.next() * startMs), server.ended]);
    else if (await ready) await Promise.race([live(campaign, random, { number, figures }), server.ended]);
    const term = !early && random.chance(0.08);
    campaign.log(`${number}: ${term ? "SIGTERM" : "SIGKILL"}${early ? " while it starts" : ""}`);
    server.kill(term ? "SIGTERM" : "SIGKILL");
    const run = await server.ended;
    campaign.enter(run);
    if (run.signal === "SIGKILL" && !run.hung) {
      killed += 1;
      if (early) figures.early += 1;
    } else if (term && run.code === 143) figures.terms += 1;
    else campaign.violated(`it ended by itself: ${run.signal ?? run.code}: ${run.stderr.slice(0, 400)}`);
    if (random.chance(0.4)) await campaign.check();
    if (random.chance(0.2)) await campaign.age();
  }
  figures.kills += killed;
  await campaign.settle();
  const { sent } = campaign.senders;
  figures.messages += sent.length;
  figures.acknowledged += sent.filter(({ acknowledged }) => acknowledged).length;
  figures.retries += campaign.senders.figures.retries;
  figures.duplicates += campaign.senders.figures.duplicates;
  for (const { snapshot, records } of (await readStored(world.stateDir))?.sessions ?? []) {
    if (snapshot) figures.snapshots += 1;
    if (records[0] && records[0].seq > 1) figures.truncated += 1;
  }
  return await campaign.finish(
    `scripts/chaos/server_kills.ts --seed=${seed} --campaign=${index} --each=${plan.each}`,
  );
}

/** What else happens in a life of the server, which ends some time in it. */
async function live(
  campaign: ServerCampaign,
  random: Random,
  { number, figures }: { number: number; figures: Figures },
): Promise<void> {
  const { world } = campaign;
  const ms = random.next() * LIFE_MS;
  if (random.chance(0.3)) {
    campaign.log("gc");
    figures.gcs += 1;
    campaign.gc();
  }
  if (random.chance(0.15)) {
    const session = random.pick(["default/s1", "default/s2", "board/main"]);
    campaign.log(`end ${session}`);
    figures.ends += 1;
    ask({ to: { socketPath: world.socket }, path: `/api/sessions/${session}/end`, body: {} }).catch(() => {});
  }
  if (random.chance(0.15)) {
    const cut = random.chance(0.5) ? random.next() * 300 : undefined;
    const made = await tryBackup(campaign, `kept-${number}`, cut === undefined ? {} : { cut });
    figures[made === "whole" ? "backups" : "cutBackups"] += 1;
  }
  await pause(ms);
}

if (import.meta.main) {
  const options = numbers({ kills: 500, seed: Date.now() % 1_000_000, seconds: 0, campaign: 0, each: 25 });
  const binaries = await pinBinaries();
  await runSuites([() => serverKillsSuite(binaries, options)], () => binaries.remove());
}
