import { join } from "node:path";
import { type Binaries, pinBinaries } from "./lib/binaries.ts";
import { type Campaign, startCampaign } from "./lib/campaign.ts";
import { type Ended, misbehaviour, pause } from "./lib/process.ts";
import { createRandom } from "./lib/random.ts";
import { mountSmallDisk } from "./lib/small_disk.ts";
import { numbers, runSuites, type SuiteResult } from "./lib/suite.ts";
import type { Flavour } from "./lib/world.ts";

export interface DiskFullOptions {
  /** How often the disk is filled. */
  rounds: number;
  seed: number;
}

const FLAVOUR: Flavour = { model: "scripted", resume: "retry", onLimit: "warn", cap: 2 };
const DISK_BYTES = 4 * 1024 * 1024;
const SESSION = "default/s1";

/** Fills the disk of store and audit log while a session runs, tries again while it is full, and gives the space back. */
export async function diskFullSuite(
  binaries: Binaries,
  { rounds, seed }: DiskFullOptions,
): Promise<SuiteResult> {
  const random = createRandom(seed);
  const campaign = await startCampaign(binaries, FLAVOUR);
  const disk = await mountSmallDisk(join(campaign.world.dir, ".reyn"), DISK_BYTES);
  const name = "full disk";
  if ("refused" in disk) {
    const notes = [`SKIPPED: a small tmpfs cannot be mounted here (needs root on Linux): ${disk.refused}`];
    return { name, passed: 0, violations: await campaign.finish("disk_full.ts"), notes };
  }
  let refusals = 0;
  let done = 0;
  try {
    const first = await campaign.run(SESSION, { text: "first" });
    for (; done < rounds && campaign.violations.length === 0; done++) {
      const spare = random.pick([0, 0, 4096, 8192, 20_000, 60_000, 120_000]);
      const delay = random.next() * first.ms * 1.2;
      campaign.log(`round ${done}: ${spare} bytes left after ${delay.toFixed(1)} ms`);
      const started = campaign.world.start(["run", "--json", "--session", "s1", "-"], {
        stdin: `message ${done}`,
      });
      await Promise.race([pause(delay), started.ended]);
      await disk.fill(spare);
      if (random.chance(0.2)) started.kill("SIGKILL");
      const run = await started.ended;
      campaign.enter(SESSION, run, `message ${done}`);
      refusals += refused(campaign, run);
      await campaign.check(false);

      const text = random.chance(0.5) ? `while full ${done}` : undefined;
      const again = await campaign.run(SESSION, text === undefined ? {} : { text });
      refusals += refused(campaign, again);
      await campaign.check(false);
      const view = await campaign.world.run(["sessions", "show", "--json", SESSION]);
      if (misbehaviour(view)) campaign.violated(`sessions show: ${misbehaviour(view)}`);

      await disk.free();
      campaign.log("space again");
      const recovered = await campaign.run(SESSION);
      if (recovered.code !== 0) {
        campaign.violated(`with space again: exit ${recovered.code}: ${recovered.stderr}`);
      }
      await campaign.check(true);
    }
    await disk.free();
    await campaign.settle();
    if (refusals === 0 && rounds > 5) {
      campaign.violated("nothing was ever refused: the disk was never full in earnest");
    }
  } finally {
    if (campaign.violations.length === 0) await disk.unmount();
  }
  return {
    name,
    passed: campaign.violations.length === 0 ? done : done - 1,
    violations: await campaign.finish(
      `scripts/chaos/disk_full.ts --seed=${seed} --rounds=${rounds} (the tmpfs is still mounted)`,
    ),
    notes: [`seed ${seed}: filled ${done} times, ${refusals} runs were refused with E_STATE_FULL`],
  };
}

/** One where the run was refused for the full disk; anything but that or success is a violation. */
function refused(campaign: Campaign, run: Ended): 0 | 1 {
  campaign.log(`ended ${run.signal ?? run.code}`);
  if (run.code === 0 || run.signal === "SIGKILL") return 0;
  if (run.code === 1 && run.stderr.includes("E_STATE_FULL")) return 1;
  campaign.violated(`exit ${run.signal ?? run.code} on a full disk: ${run.stderr.slice(0, 400)}`);
  return 0;
}

if (import.meta.main) {
  const options = numbers({ rounds: 60, seed: Date.now() % 1_000_000 });
  const binaries = await pinBinaries();
  await runSuites([() => diskFullSuite(binaries, options)], () => binaries.remove());
}
