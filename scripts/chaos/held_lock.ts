import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Binaries, pinBinaries } from "./lib/binaries.ts";
import { type Campaign, startCampaign } from "./lib/campaign.ts";
import { type Ended, pause } from "./lib/process.ts";
import { createRandom } from "./lib/random.ts";
import { numbers, runSuites, type SuiteResult } from "./lib/suite.ts";
import type { Flavour } from "./lib/world.ts";

export interface HeldLockOptions {
  /** How many runs meet a lock for a moment. */
  rounds: number;
  seed: number;
  /** 1: also hold it for longer than anybody waits, which takes most of a minute. */
  long: number;
}

const FLAVOUR: Flavour = { model: "scripted", resume: "retry", onLimit: "warn", cap: 2 };
const SESSION = "default/s1";
const LONGER_THAN_ANYBODY_WAITS = 38_000;

/** Another process holds the database: for a moment, and a run waits; for good, and it is refused with a code. */
export async function heldLockSuite(binaries: Binaries, options: HeldLockOptions): Promise<SuiteResult> {
  const { rounds, seed, long } = options;
  const parts = [
    moments(binaries, rounds, seed),
    stopped(binaries),
    ...long === 1 ? [forGood(binaries)] : [],
  ];
  const outcomes = await Promise.all(parts);
  const violations = outcomes.flatMap((one) => one.violations);
  const tried = outcomes.reduce((sum, one) => sum + one.tried, 0);
  return {
    name: "a database that is held",
    passed: violations.length === 0 ? tried : 0,
    violations,
    notes: [`seed ${seed}: ${rounds} runs met a lock for a moment${long === 1 ? ", 2 for good" : ""}`],
  };
}

interface Outcome {
  tried: number;
  violations: string[];
}

async function moments(binaries: Binaries, rounds: number, seed: number): Promise<Outcome> {
  const random = createRandom(seed);
  const campaign = await startCampaign(binaries, FLAVOUR);
  await campaign.run(SESSION, { text: "first" });
  for (let round = 0; round < rounds && campaign.violations.length === 0; round++) {
    const how = random.pick(["BEGIN IMMEDIATE", "BEGIN IMMEDIATE", "BEGIN"] as const);
    const [delay, ms] = [random.next() * 150, 60 + random.next() * 900];
    campaign.log(`round ${round}: ${how} after ${delay.toFixed(0)} ms for ${ms.toFixed(0)} ms`);
    const started = campaign.world.start(["run", "--json", "--session", "s1", "-"], {
      stdin: `message ${round}`,
    });
    await pause(delay);
    const letGo = hold(campaign, how);
    await pause(ms);
    letGo();
    const run = await started.ended;
    campaign.enter(SESSION, run, `message ${round}`);
    expectOk(campaign, run);
  }
  await campaign.settle();
  return {
    tried: rounds,
    violations: await campaign.finish(`scripts/chaos/held_lock.ts --seed=${seed} --rounds=${rounds}`),
  };
}

/** A run that is stopped and goes on: the listing reads past it, a second run is told who holds the folder. */
async function stopped(binaries: Binaries): Promise<Outcome> {
  const campaign = await startCampaign(binaries, FLAVOUR);
  const started = campaign.world.start(["run", "--json", "--session", "s1", "-"], { stdin: "stopped" });
  await started.saw('"type":"turn_started"');
  started.kill("SIGSTOP");
  const view = await campaign.world.run(["sessions", "show", "--json", SESSION]);
  if (view.code !== 0) campaign.violated(`sessions show beside a stopped run: ${view.code} ${view.stderr}`);
  const rival = await campaign.run("default/s2", { text: "rival" });
  if (rival.code !== 6 || !rival.stderr.includes(`pid ${started.pid}`)) {
    campaign.violated(`a rival of a stopped run: exit ${rival.code} ${rival.stderr}`);
  }
  started.kill("SIGCONT");
  const run = await started.ended;
  campaign.enter(SESSION, run, "stopped");
  expectOk(campaign, run);
  await campaign.settle();
  return { tried: 1, violations: await campaign.finish("scripts/chaos/held_lock.ts (stopped)") };
}

/** One run that never gets the lock, one that loses it in the middle of a turn. */
async function forGood(binaries: Binaries): Promise<Outcome> {
  const outcomes = await Promise.all([0, 1].map(async (middle) => {
    const campaign = await startCampaign(binaries, FLAVOUR);
    await campaign.run(SESSION, { text: "first" });
    campaign.log(middle ? "held from the middle of a turn" : "held from the start");
    const before = middle ? undefined : hold(campaign, "BEGIN IMMEDIATE");
    const options = { stdin: "the message", limitMs: 90_000 };
    const started = campaign.world.start(["run", "--json", "--session", "s1", "-"], options);
    if (middle) await started.saw('"type":"turn_started"');
    const letGo = before ?? hold(campaign, "BEGIN IMMEDIATE");
    await Promise.race([pause(LONGER_THAN_ANYBODY_WAITS), started.ended]);
    const waited = started.ended.then((run) => run.ms);
    letGo();
    const run = await started.ended;
    campaign.enter(SESSION, run, "the message");
    if (run.code !== 1 || !run.stderr.includes("E_STATE_IO") || !/locked/.test(run.stderr)) {
      campaign.violated(
        `held for good: exit ${run.code} after ${await waited} ms: ${run.stderr.slice(0, 300)}`,
      );
    }
    await campaign.settle();
    return await campaign.finish("scripts/chaos/held_lock.ts --long=1");
  }));
  return { tried: 2, violations: outcomes.flat() };
}

/** Holds a transaction of our own on the store; the answer lets go. */
function hold(campaign: Campaign, how: "BEGIN" | "BEGIN IMMEDIATE"): () => void {
  const db = new DatabaseSync(join(campaign.world.stateDir, "reyn.db"), { timeout: 2000 });
  db.exec(how);
  db.prepare("SELECT count(*) FROM session").get();
  return () => {
    db.exec("ROLLBACK");
    db.close();
  };
}

function expectOk(campaign: Campaign, run: Ended): void {
  if (run.code !== 0) campaign.violated(`exit ${run.signal ?? run.code}: ${run.stderr.slice(0, 400)}`);
}

if (import.meta.main) {
  const options = numbers({ rounds: 20, seed: Date.now() % 1_000_000, long: 1 });
  const binaries = await pinBinaries();
  await runSuites([() => heldLockSuite(binaries, options)], () => binaries.remove());
}
