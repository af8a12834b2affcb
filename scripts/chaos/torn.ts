import { cp, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Binaries, pinBinaries } from "./lib/binaries.ts";
import { startCampaign } from "./lib/campaign.ts";
import { type Damage, damages } from "./lib/damage.ts";
import { pool } from "./lib/pool.ts";
import { createRandom } from "./lib/random.ts";
import { readStored } from "./lib/stored.ts";
import { numbers, runSuites, type SuiteResult } from "./lib/suite.ts";
import { type Base, tryDamage, trySetAside } from "./lib/try_damage.ts";
import type { Flavour } from "./lib/world.ts";

export interface TornOptions {
  /** How many places of each file are tried in each way. */
  places: number;
  seed: number;
  jobs: number;
}

const FLAVOUR: Flavour = { model: "echo", resume: "retry", onLimit: "warn", cap: 2 };

/** Cuts, zeroes, garbles and replaces the files of the store, and sees what `run` and `sessions show` make of it. */
export async function tornSuite(
  binaries: Binaries,
  { places, seed, jobs }: TornOptions,
): Promise<SuiteResult> {
  const base = await makeBase(binaries);
  const all = damages({ places, random: createRandom(seed), sizes: base.sizes });
  const outcomes = await pool(all, jobs, (damage: Damage) => tryDamage(binaries, base, damage));
  const crashed = await trySetAside(binaries, base);
  const count = (how: string) => outcomes.filter((one) => one.how === how).length;
  const again = `scripts/chaos/torn.ts --seed=${seed} --places=${places}`;
  const violations = [...outcomes.flatMap((one) => one.violations), ...crashed.violations];
  await base.remove();
  return {
    name: "torn and damaged files",
    passed: [...outcomes, crashed].filter((one) => one.violations.length === 0).length,
    violations: violations.map((text) => `${text}\n    again: ${again}`),
    notes: [
      `seed ${seed}: ${all.length} damages (-wal ${base.sizes.wal} bytes, reyn.db ${base.sizes.db}): ` +
      `${count("whole")} worked with everything, ${count("prefix")} with a beginning, ${
        count("refused")
      } were refused`,
    ],
  };
}

/** A folder after real runs: some that ended, whose commits are in the database, and one that was killed. */
async function makeBase(binaries: Binaries): Promise<Base> {
  const campaign = await startCampaign(binaries, FLAVOUR);
  for (let i = 1; i <= 6; i++) {
    await campaign.run(i % 3 === 0 ? "default/s2" : "default/s1", { text: `kept ${i}` });
  }
  const { world } = campaign;
  const least = await readStored(world.stateDir);
  await campaign.run("default/s1", { text: "in the wal", killAt: "turn:after_end:3" });
  await campaign.run("default/s1", { text: "in the wal too", killAt: "turn:after_step:2" });
  const most = await readStored(world.stateDir);
  if (!least || !most) throw new Error("no database was made");
  const sizeOf = async (name: string) => (await stat(join(world.stateDir, name))).size;
  const sizes = { db: await sizeOf("reyn.db"), wal: await sizeOf("reyn.db-wal") };
  if (sizes.wal === 0) throw new Error("the killed run left no -wal");
  return {
    flavour: FLAVOUR,
    sizes,
    least,
    most,
    sent: campaign.ledger.sent.map(({ session, text }) => ({ session, text })),
    copyTo: (target) => cp(join(world.dir, ".reyn"), join(target, ".reyn"), { recursive: true }),
    async remove() {
      await campaign.finish(`the base of torn.ts in ${dirname(world.dir)}`);
    },
  };
}

if (import.meta.main) {
  const options = numbers({ places: 40, seed: Date.now() % 1_000_000, jobs: 2 });
  const binaries = await pinBinaries();
  await runSuites([() => tornSuite(binaries, options)], () => binaries.remove());
}
