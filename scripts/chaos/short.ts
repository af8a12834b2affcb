import { armedSuite } from "./armed.ts";
import { diskFullSuite } from "./disk_full.ts";
import { heldLockSuite } from "./held_lock.ts";
import { killPointsSuite } from "./kill_points.ts";
import { killsSuite } from "./kills.ts";
import { pinBinaries } from "./lib/binaries.ts";
import { numbers, runSuites } from "./lib/suite.ts";
import { serverFaultsSuite } from "./server_faults.ts";
import { serverKillPointsSuite } from "./server_kill_points.ts";
import { serverKillsSuite } from "./server_kills.ts";
import { tornSuite } from "./torn.ts";

/**
 * The crash and fault suites in the form that CI runs: about a minute, after `dist/` was built. `--seed=N` repeats a
 * run. Exit 1 on any violation; the last line is `N passed, N failed`.
 */
const { seed } = numbers({ seed: Date.now() % 1_000_000 });
const binaries = await pinBinaries();
await runSuites([
  () => killsSuite(binaries, { kills: 30, seed, seconds: 16, jobs: 2, campaign: 0 }),
  () => killPointsSuite(binaries, { passings: 1, commits: 1, jobs: 2, seed }),
  () => tornSuite(binaries, { places: 1, seed, jobs: 2 }),
  () => diskFullSuite(binaries, { rounds: 5, seed }),
  () => heldLockSuite(binaries, { rounds: 3, seed, long: 0 }),
  () => armedSuite(binaries, { rounds: 12, seed, jobs: 2 }),
  () => serverKillsSuite(binaries, { kills: 10, seed, seconds: 6, campaign: 0, each: 10 }),
  () => serverKillPointsSuite(binaries, { passings: 1, seed, labels: 1 }),
  () => serverFaultsSuite(binaries, { rounds: 1, seed, long: 0 }),
], () => binaries.remove());
