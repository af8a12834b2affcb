import { armedSuite } from "./chaos/armed.ts";
import { diskFullSuite } from "./chaos/disk_full.ts";
import { heldLockSuite } from "./chaos/held_lock.ts";
import { killPointsSuite } from "./chaos/kill_points.ts";
import { killsSuite } from "./chaos/kills.ts";
import { pinBinaries } from "./chaos/lib/binaries.ts";
import { numbers, runSuites } from "./chaos/lib/suite.ts";
import { runtimesSuite } from "./chaos/runtimes.ts";
import { serverFaultsSuite } from "./chaos/server_faults.ts";
import { serverKillPointsSuite } from "./chaos/server_kill_points.ts";
import { serverKillsSuite } from "./chaos/server_kills.ts";
import { tornSuite } from "./chaos/torn.ts";

/**
 * `deno task full`: every crash and fault suite in its full form, against `dist/`. `--seed=N` repeats a run, `--kills=N`
 * asks for more of runs, `--served=N` for more of servers. Exit 1 on any violation; the last line is `N passed, N failed`.
 */
const { seed, kills, served } = numbers({ seed: Date.now() % 1_000_000, kills: 300, served: 500 });
const binaries = await pinBinaries();
await runSuites([
  () => killsSuite(binaries, { kills, seed, seconds: 0, jobs: 2, campaign: 0 }),
  () => killPointsSuite(binaries, { passings: 3, commits: 16, jobs: 2, seed }),
  () => tornSuite(binaries, { places: 40, seed, jobs: 2 }),
  () => diskFullSuite(binaries, { rounds: 60, seed }),
  () => heldLockSuite(binaries, { rounds: 20, seed, long: 1 }),
  () => armedSuite(binaries, { rounds: 200, seed, jobs: 2 }),
  () => runtimesSuite(binaries),
  () => serverKillsSuite(binaries, { kills: served, seed, seconds: 0, campaign: 0, each: 25 }),
  () => serverKillPointsSuite(binaries, { passings: 3, seed, labels: 0 }),
  () => serverFaultsSuite(binaries, { rounds: 10, seed, long: 1 }),
], () => binaries.remove());
