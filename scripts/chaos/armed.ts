import { readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Binaries, pinBinaries } from "./lib/binaries.ts";
import { pause } from "./lib/process.ts";
import { createRandom, type Random } from "./lib/random.ts";
import { numbers, runSuites, type SuiteResult } from "./lib/suite.ts";
import { createWorld, type Flavour, type World } from "./lib/world.ts";

export interface ArmedOptions {
  /** Processes killed while a deadline is armed, fires, or has fired. */
  rounds: number;
  seed: number;
  /** Control folders at the same time. */
  jobs: number;
}

const FLAVOUR: Flavour = { model: "slow", resume: "retry", onLimit: "warn", cap: 2 };
const TTL_MS = 150;

const CONFIG = `model: { provider: scripted, script: slow.yaml }
composers:
  - { name: late, op: deadline, on: turn_start, matcher: { kind: user }, until: { on: turn_end }, ttl: ${TTL_MS}ms }
hooks:
  - { name: seen, on: turn_start, template_push: { message: "begun", wake: false } }
  - { name: late, on: composed:late, template_push: { message: "armed at {{ armed_at }}", wake: false } }
`;

interface Pending {
  records: { state: string; record: { created_at?: number; events: { payload: { armed_at?: number } }[] } }[];
}

/**
 * Kills a process at random instants from the moment at which it has acknowledged a deadline, starts it again when the
 * time is over, and checks that the deadline has fired exactly once, with the instant at which it was armed.
 */
export async function armedSuite(
  binaries: Binaries,
  { rounds, seed, jobs }: ArmedOptions,
): Promise<SuiteResult> {
  const violations: string[] = [];
  const found = { pending: 0, fired: 0, settled: 0 };
  let next = 0;
  const worker = async () => {
    const world = await createWorld(binaries, FLAVOUR);
    await writeFile(join(world.dir, "reyn.yaml"), CONFIG);
    while (next < rounds && violations.length < 10) {
      const round = next++;
      const wrong = await tryRound(world, round, createRandom(seed).fork(round), found);
      if (wrong !== undefined) {
        violations.push(
          `round ${round}: ${wrong} [scripts/chaos/armed.ts --seed=${seed} --rounds=${rounds}; ${world.dir}]`,
        );
      }
    }
    if (violations.length === 0) await rm(dirname(world.dir), { recursive: true, force: true });
  };
  await Promise.all(Array.from({ length: jobs }, worker));
  return {
    name: "kills while a deadline is armed",
    passed: rounds - violations.length,
    violations,
    notes: [
      `seed ${seed}: killed with ${found.pending} armed, ${found.fired} fired, ${found.settled} settled`,
    ],
  };
}

async function tryRound(
  world: World,
  round: number,
  random: Random,
  found: { pending: number; fired: number; settled: number },
): Promise<string | undefined> {
  const sid = `r${round}`;
  const script = join(world.dir, "slow.yaml");
  await writeFile(script, "- { delay: 60s, say: too late }\n");
  const started = world.start(["run", "--json", "--session", sid, "hello"]);
  // The turn goes on only when what it armed is on disk.
  if (!await started.saw('"type":"context_added"')) {
    return `it ended by itself: ${(await started.ended).stderr}`;
  }
  if (random.chance(0.7)) await pause(random.next() * TTL_MS * 2);
  started.kill("SIGKILL");
  await started.ended;

  const file = join(world.dir, ".reyn/agents/default/state/sessions", sid, "composer_pending.json");
  const pending = JSON.parse(await readFile(file, "utf8")) as Pending;
  const [record] = pending.records;
  const armedAt = record?.record.created_at ?? record?.record.events[0]?.payload.armed_at;
  found[record === undefined ? "settled" : record.state === "fired" ? "fired" : "pending"] += 1;
  if (pending.records.length > 1) return `${pending.records.length} records were left`;

  await writeFile(script, "[]\n");
  await pause(TTL_MS);
  const again = await world.run(["run", "--json", "--session", sid]);
  if (again.code !== 0) return `the next start gave ${again.signal ?? again.code}: ${again.stderr}`;
  const shown = await world.run(["sessions", "show", "--json", sid]);
  const pushes = shown.stdout.match(/\[hook:late\] armed at [\d.]+/g) ?? [];
  if (pushes.length !== 1) {
    return `${pushes.length} pushes of the deadline (record: ${JSON.stringify(record)})`;
  }
  if (armedAt !== undefined && !pushes[0]?.endsWith(` ${armedAt}`)) {
    return `armed at ${armedAt}, but ${pushes[0]}`;
  }
  const left = JSON.parse(await readFile(file, "utf8")) as Pending;
  return left.records.length === 0 ? undefined : `records are left: ${JSON.stringify(left.records)}`;
}

if (import.meta.main) {
  const options = numbers({ rounds: 200, seed: Date.now() % 1_000_000, jobs: 2 });
  const binaries = await pinBinaries();
  await runSuites([() => armedSuite(binaries, options)], () => binaries.remove());
}
