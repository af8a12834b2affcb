import { type Binaries, pinBinaries } from "./lib/binaries.ts";
import { startCampaign } from "./lib/campaign.ts";
import { labelsInSource } from "./lib/labels.ts";
import { pool } from "./lib/pool.ts";
import { createRandom, type Random } from "./lib/random.ts";
import { numbers, runSuites, type SuiteResult } from "./lib/suite.ts";
import type { Flavour } from "./lib/world.ts";

export interface KillPointsOptions {
  /** Each label of a turn is tried at its first, second, … passing, up to this. */
  passings: number;
  /** The labels of a commit are passed by every commit of a run; so many of those passings are tried, by the seed. */
  commits: number;
  seed: number;
  /** Control folders at the same time. */
  jobs: number;
}

/** Labels that a run does not pass, and where they are tried instead. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ["store:before_set_aside", "torn"],
  ["store:in_set_aside", "torn"],
  ["store:in_truncate", "server_kill_points"],
  ["store:in_forget", "server_kill_points"],
  ["store:in_copy", "server_kill_points"],
  ["store:before_copy_named", "server_kill_points"],
  ["valve:after_question", "case valve/ask_user_kill_unseen"],
  ["valve:after_answer", "case valve/ask_user_kill_answered"],
  ["gc:in_events", "server_kill_points"],
  ["gc:in_set_aside", "server_kill_points"],
  ["backup:before_database", "server_kill_points"],
  ["backup:before_named", "server_kill_points"],
  ["pending:before_write", "server_kill_points"],
  ["pending:after_write", "server_kill_points"],
  ["composed:before_hooks", "server_kill_points"],
  ["composed:after_hooks", "server_kill_points"],
]);
const OF_EVERY_COMMIT: ReadonlySet<string> = new Set([
  "store:before_commit",
  "store:in_transaction",
  "store:after_commit",
]);
/** Up to the commits that end the turn of a person; those of the turns behind it are of the same kinds. */
const COMMITS_OF_A_RUN = 16;
/** Labels that only an interrupted turn passes. */
const AFTER_AN_INTERRUPTION: ReadonlySet<string> = new Set(["turn:after_retry"]);

const FLAVOUR: Flavour = { model: "scripted", resume: "retry", onLimit: "warn", cap: 2 };
const SESSION = "default/s1";

/** Kills runs at every labelled point, recovers, kills the recovery there too, and checks from outside. */
export async function killPointsSuite(binaries: Binaries, options: KillPointsOptions): Promise<SuiteResult> {
  const { passings, commits, jobs, seed } = options;
  const labels = await labelsInSource();
  const tried = labels.filter((label) => !ELSEWHERE.has(label));
  const points = tried.flatMap((label, index) =>
    passingsOf(label, { passings, commits, random: createRandom(seed).fork(index) }).map((passing) => ({
      label,
      passing,
    }))
  );
  const outcomes = await pool(points, jobs, ({ label, passing }) => tryPoint(binaries, label, passing));
  const kills = outcomes.reduce((sum, one) => sum + one.kills, 0);
  const violations = outcomes.flatMap((one) => one.violations);
  for (const label of tried) {
    const reached = outcomes.some((one, index) => points[index]?.label === label && one.kills > 0);
    if (!reached) violations.push(`no run passes ${label}: say in kill_points.ts where it is tried`);
  }
  return {
    name: "kills at labelled points",
    passed: kills,
    violations,
    notes: [
      `seed ${seed}: ${kills} kills at ${points.length} passings of ${tried.length} labels, each recovery killed too`,
      ...[...ELSEWHERE].map(([label, where]) => `${label}: ${where}`),
    ],
  };
}

/** Which passings of a label are tried, ascending. */
function passingsOf(
  label: string,
  { passings, commits, random }: { passings: number; commits: number; random: Random },
): number[] {
  const all = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
  if (!OF_EVERY_COMMIT.has(label)) return all(label === "store:in_migration" ? 1 : passings);
  const chosen = all(COMMITS_OF_A_RUN);
  while (chosen.length > commits) chosen.splice(random.below(chosen.length), 1);
  return chosen;
}

async function tryPoint(
  binaries: Binaries,
  label: string,
  passing: number,
): Promise<{ kills: number; violations: string[] }> {
  const campaign = await startCampaign(binaries, FLAVOUR);
  const killAt = `${label}:${passing}`;
  campaign.log(`killed at ${killAt}`);
  let kills = 0;
  const isKilled = (run: { signal: string | null; code: number | null; stderr: string }) => {
    if (run.signal === "SIGKILL") return true;
    if (run.code !== 0) campaign.violated(`${killAt}: exit ${run.code}: ${run.stderr.slice(0, 300)}`);
    return false;
  };
  // The first start makes the database, so its points lie before the first message.
  if (label !== "store:in_migration") await campaign.run(SESSION, { text: "before" });
  if (AFTER_AN_INTERRUPTION.has(label)) {
    await campaign.world.configure({ ...FLAVOUR, model: "slow" });
    const started = campaign.world.start(["run", "--json", "--session", "s1", "-"], { stdin: "interrupted" });
    await started.saw('"type":"turn_started"');
    started.kill("SIGINT");
    campaign.enter(SESSION, await started.ended, "interrupted");
    await campaign.world.configure(FLAVOUR);
  }
  if (isKilled(await campaign.run(SESSION, { text: "the message", killAt }))) kills += 1;
  await campaign.check(false);
  if (kills > 0) {
    for (const text of [undefined, "another"]) {
      if (isKilled(await campaign.run(SESSION, { ...text === undefined ? {} : { text }, killAt }))) {
        kills += 1;
      }
      await campaign.check(false);
    }
  }
  await campaign.run(SESSION, { text: "afterwards" });
  await campaign.settle();
  return {
    kills,
    violations: await campaign.finish(`scripts/chaos/kill_points.ts (${killAt})`),
  };
}

if (import.meta.main) {
  const options = numbers({ passings: 3, commits: 16, jobs: 2, seed: 1 });
  const binaries = await pinBinaries();
  await runSuites([() => killPointsSuite(binaries, options)], () => binaries.remove());
}
