import process, { argv, exit } from "node:process";
import { parseArgs } from "node:util";
import { ALL_CASES, openSuite } from "../../test/sandbox/attack/suite.ts";
import type { SuiteSummary } from "./run_suite.ts";

/**
 * Runs the attacks as hooks of `--reyn`, as the account that it is started by, and ends with one line of JSON: a SuiteSummary with how
 * many were judged in part only. Started by scripts/attacks.ts, once for each account.
 */
const { values } = parseArgs({
  args: argv.slice(2),
  options: {
    attacker: { type: "string" },
    deno: { type: "string" },
    bun: { type: "string" },
    reyn: { type: "string" },
    filter: { type: "string", default: "" },
    jobs: { type: "string", default: "3" },
  },
});
const { reyn = "dist/reyn" } = values;
const suite = await openSuite({
  ...(values.attacker ? { attacker: values.attacker } : {}),
  ...(values.deno ? { deno: values.deno } : {}),
  ...(values.bun ? { bun: values.bun } : {}),
});
const summary: SuiteSummary & { partly: number } = {
  passed: 0,
  failed: 0,
  notRun: 0,
  partly: 0,
  control: { tried: 0, failed: 0 },
};
const unseenOf = new Map<string, number>();
const notRun = new Map<string, number>();
const count = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1);

const cases = ALL_CASES.map((attack) => ({ attack, name: `${attack.family} ${attack.name}` }))
  .filter(({ name }) => name.includes(values.filter));
// Those that mount go last and alone: a mount is seen by all.
const waiting = cases.filter(({ attack }) => !attack.needsMounts);
await Promise.all(Array.from({ length: Number(values.jobs) }, () => work(waiting)));
await work(cases.filter(({ attack }) => attack.needsMounts));

async function work(queue: typeof cases): Promise<void> {
  for (let next = queue.shift(); next; next = queue.shift()) await tryCase(next);
}

async function tryCase({ attack, name }: typeof cases[number]): Promise<void> {
  if (attack.abi !== undefined) {
    summary.notRun += 1;
    count(notRun, "an older Landlock cannot be asked for");
    return;
  }
  const result = await suite.run(attack, { reyn });
  if (result.status === "failed") {
    summary.failed += 1;
    console.log(`FAILED ${name}: ${result.reason}`);
  } else if (result.status === "not_run") {
    summary.notRun += 1;
    count(notRun, `${result.reason}: ${name}`);
  } else {
    summary.passed += 1;
    if (result.unseen.length > 0) summary.partly += 1;
    for (const kind of result.unseen) count(unseenOf, kind);
  }
}

try {
  summary.passed += await suite.inherited(reyn);
} catch (error) {
  summary.failed += 1;
  console.log(`FAILED 18 inherited descriptors: ${error instanceof Error ? error.message : String(error)}`);
}
await suite.close();
console.log(`uid ${process.getuid?.()}, each by a hook of reyn`);
console.log(`judged fully ${summary.passed - summary.partly}, in part ${summary.partly}`);
for (const [kind, times] of unseenOf) console.log(`not seen in ${times} of them: ${kind}`);
for (const [reason, times] of notRun) console.log(`not run, ${times}: ${reason}`);
console.log(JSON.stringify(summary));
exit(summary.failed > 0 ? 1 : 0);
