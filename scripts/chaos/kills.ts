import { performance } from "node:perf_hooks";
import { type Binaries, pinBinaries } from "./lib/binaries.ts";
import { type Campaign, startCampaign } from "./lib/campaign.ts";
import { type Ended, misbehaviour, pause } from "./lib/process.ts";
import { createRandom, type Random } from "./lib/random.ts";
import { numbers, runSuites, type SuiteResult } from "./lib/suite.ts";
import type { Flavour } from "./lib/world.ts";

export interface KillsOptions {
  /** Processes that a SIGKILL has to end. */
  kills: number;
  seed: number;
  /** No new campaign begins after this; 0: no bound. */
  seconds: number;
  /** Control folders at the same time. */
  jobs: number;
  /** Only this campaign; 0: all. */
  campaign: number;
}

const KILLS_A_CAMPAIGN = 20;

/**
 * Sends messages to sessions whose process is killed at random instants, and checks from outside that nothing
 * acknowledged is lost and nothing happens twice.
 */
export async function killsSuite(binaries: Binaries, options: KillsOptions): Promise<SuiteResult> {
  const { seed, kills, seconds, jobs } = options;
  const began = performance.now();
  const figures: Figures = { kills: 0, signals: 0, runs: 0, messages: 0, acknowledged: 0, campaigns: 0 };
  const violations: string[] = [];
  let next = Math.max(1, options.campaign);
  let promised = 0;
  const over = () =>
    options.campaign > 0
      ? next > options.campaign
      : promised >= kills || (seconds > 0 && performance.now() - began > seconds * 1000);
  const worker = async () => {
    while (!over()) {
      const index = next++;
      // The same for every number of kills, so that a campaign repeats alone.
      const wanted = KILLS_A_CAMPAIGN;
      promised += wanted;
      violations.push(...await runCampaign(binaries, { seed, index, wanted, figures }));
      figures.campaigns += 1;
    }
  };
  await Promise.all(Array.from({ length: jobs }, worker));
  const { runs, messages, acknowledged, campaigns, signals } = figures;
  return {
    name: "kills at random instants",
    passed: figures.kills,
    violations,
    notes: [
      `seed ${seed}: ${figures.kills} kills and ${signals} other signals in ${runs} runs, ${campaigns} campaigns`,
      `${messages} messages sent, ${acknowledged} acknowledged, ${violations.length} violations`,
    ],
  };
}

interface Figures {
  kills: number;
  signals: number;
  runs: number;
  messages: number;
  acknowledged: number;
  campaigns: number;
}

interface Plan {
  seed: number;
  index: number;
  wanted: number;
  figures: Figures;
}

/** All combinations come in turn. */
function flavourOf(index: number): Flavour {
  const models = ["echo", "scripted", "command"] as const;
  return {
    model: models[index % 3] ?? "echo",
    resume: index % 4 === 3 ? "skip" : "retry",
    onLimit: index % 5 === 4 ? "abort" : "warn",
    cap: 1 + (index % 3),
  };
}

async function runCampaign(binaries: Binaries, { seed, index, wanted, figures }: Plan): Promise<string[]> {
  const random = createRandom(seed).fork(index);
  const flavour = flavourOf(index);
  const campaign = await startCampaign(binaries, flavour);
  campaign.log(`${flavour.model}, resume ${flavour.resume}, on_limit ${flavour.onLimit}, cap ${flavour.cap}`);
  const sessions = ["default/s1", "default/s2", "default/s3"] as const;
  let life = 0;
  const lived = (run: Ended) => {
    if (run.code === 0) life = life === 0 ? run.ms : life * 0.8 + run.ms * 0.2;
  };
  let number = 0;
  const message = () => `m${index}-${++number} ${random.chance(0.05) ? "x".repeat(300_000) : "please"}`;
  lived(await campaign.run(sessions[0], { text: message() }));
  lived(await campaign.run(sessions[0], { text: message() }));

  let killed = 0;
  while (killed < wanted && number < wanted * 20 && campaign.violations.length === 0) {
    const session = random.pick(sessions);
    const text = random.chance(0.85) ? message() : undefined;
    const signal = random.chance(0.9) ? "SIGKILL" : random.pick(["SIGINT", "SIGTERM"] as const);
    const delay = random.next() * life * 1.3;
    const company = random.chance(0.12) ? random.pick(["rival", "reader"] as const) : undefined;
    const run = await interrupted(campaign, random, { session, text, signal, delay, company });
    figures.runs += 1;
    lived(run);
    if (run.signal === "SIGKILL" && !run.hung) killed += 1;
    else if (run.signal !== null || (run.code ?? 0) > 128) figures.signals += 1;
    if (random.chance(0.3)) {
      campaign.log(`recover ${session}`);
      const recovery = await campaign.run(session);
      if (recovery.code !== 0) {
        campaign.violated(
          `${session}: recovery gave ${recovery.code}: ${recovery.stderr.slice(0, 300)}`,
        );
      }
      lived(recovery);
    }
    if (random.chance(0.5)) await campaign.check(false);
  }
  figures.kills += killed;
  await campaign.settle();
  figures.messages += campaign.ledger.sent.length;
  figures.acknowledged += campaign.ledger.sent.filter(({ fate }) => fate === "acknowledged").length;
  return await campaign.finish(`scripts/chaos/kills.ts --seed=${seed} --campaign=${index}`);
}

interface Interruption {
  session: string;
  text: string | undefined;
  signal: "SIGKILL" | "SIGINT" | "SIGTERM";
  /** Milliseconds after the start. */
  delay: number;
  company: "rival" | "reader" | undefined;
}

async function interrupted(campaign: Campaign, random: Random, plan: Interruption): Promise<Ended> {
  const { session, text, signal, delay, company } = plan;
  const sid = session.slice(session.indexOf("/") + 1);
  campaign.log(
    `${session} ${text?.slice(0, 12) ?? "no message"} ${signal} at ${delay.toFixed(1)} ms${
      company ? `, ${company}` : ""
    }`,
  );
  const args = ["run", "--json", "--session", sid, ...text === undefined ? [] : ["-"]];
  const started = campaign.world.start(args, text === undefined ? {} : { stdin: text });
  const beside = company && keepCompany(campaign, random, { company, session });
  await Promise.race([pause(delay), started.ended]);
  started.kill(signal);
  const run = await started.ended;
  await beside;
  campaign.enter(session, run, text);
  campaign.log(`ended ${run.signal ?? run.code} after ${run.ms.toFixed(0)} ms`);
  if (run.code !== null && ![0, 6, 130, 143].includes(run.code)) {
    campaign.violated(`${session}: exit ${run.code}: ${run.stderr.slice(0, 300)}`);
  }
  return run;
}

/** Another process on the same folder: one that wants to run too, or one that lists. */
async function keepCompany(
  campaign: Campaign,
  random: Random,
  { company, session }: { company: "rival" | "reader"; session: string },
): Promise<void> {
  await pause(random.next() * 40);
  if (company === "rival") {
    const text = `rival ${campaign.ledger.sent.length}`;
    const run = await campaign.world.run(["run", "--json", "--session", "s2", "-"], { stdin: text });
    campaign.enter("default/s2", run, text);
    if (run.code !== 0 && run.code !== 6) {
      campaign.violated(`a rival gave ${run.code}: ${run.stderr.slice(0, 300)}`);
    }
    return;
  }
  const run = await campaign.world.run(["sessions", "show", "--json", session]);
  const wrong = misbehaviour(run);
  const unknown = run.stderr.includes("E_SESSION_UNKNOWN");
  if (wrong || (run.code !== 0 && !unknown)) {
    campaign.violated(`sessions show gave ${run.code}: ${wrong ?? run.stderr.slice(0, 300)}`);
  }
}

if (import.meta.main) {
  const options = numbers({ kills: 300, seed: Date.now() % 1_000_000, seconds: 0, jobs: 2, campaign: 0 });
  const binaries = await pinBinaries();
  await runSuites([() => killsSuite(binaries, options)], () => binaries.remove());
}
