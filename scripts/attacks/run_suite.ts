import process, { argv, exit } from "node:process";
import { parseArgs } from "node:util";
import { KILL_CASES } from "../../test/sandbox/attack/kill_cases.ts";
import { ALL_CASES, openSuite } from "../../test/sandbox/attack/suite.ts";

/**
 * Runs the attack suite as the account that it is started by, then its control without a sandbox, and ends with one line of JSON:
 * {passed, failed, notRun, control: {tried, failed}}. Started by scripts/attacks.ts, once for each account.
 */
export interface SuiteSummary {
  passed: number;
  failed: number;
  notRun: number;
  control: { tried: number; failed: number };
}

const { values } = parseArgs({
  args: argv.slice(2),
  options: { attacker: { type: "string" }, deno: { type: "string" }, bun: { type: "string" } },
});
const suite = await openSuite({
  ...(values.attacker ? { attacker: values.attacker } : {}),
  ...(values.deno ? { deno: values.deno } : {}),
  ...(values.bun ? { bun: values.bun } : {}),
});
const summary: SuiteSummary = { passed: 0, failed: 0, notRun: 0, control: { tried: 0, failed: 0 } };
const fail = (name: string, reason: string) => {
  summary.failed += 1;
  console.log(`FAILED ${name}: ${reason}`);
};

for (const attack of ALL_CASES) {
  const result = await suite.run(attack, "confined");
  const name = `${attack.family} ${attack.name}`;
  if (result.status === "failed") fail(name, result.reason);
  else if (result.status === "passed") summary.passed += 1;
  else {
    summary.notRun += 1;
    console.log(`not run ${name}: ${result.reason}`);
  }
}

const guarded = async (name: string, run: () => Promise<number>) => {
  try {
    summary.passed += await run();
  } catch (error) {
    fail(name, error instanceof Error ? error.message : String(error));
  }
};
await guarded("18 inherited descriptors", () => suite.inherited());
for (const test of KILL_CASES) {
  await guarded(`43 ${test.name}`, () => suite.kill(test).then(() => 1));
}

for (const attack of ALL_CASES) {
  if (attack.control === false || attack.needsMounts) continue;
  const result = await suite.run(attack, "bare");
  if (result.status === "not_run") continue;
  summary.control.tried += 1;
  if (result.status === "failed") summary.control.failed += 1;
}
await suite.close();
console.log(`uid ${process.getuid?.()}`);
console.log(JSON.stringify(summary));
exit(summary.failed > 0 ? 1 : 0);
