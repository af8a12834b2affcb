import process, { argv, exit } from "node:process";
import { parseArgs } from "node:util";
import { bulkCases } from "./load/bulk_cases.ts";
import { faultCases } from "./load/fault_cases.ts";
import { programCases } from "./load/program_cases.ts";
import { runLoadCase } from "./load/tools.ts";

/**
 * Commands that are many, that misbehave or that lose their runtime or helper, as hooks of `--reyn`: each line has its figures, the last
 * is `N passed, N failed`. Started by scripts/attacks.ts. `--filter=TEXT`: only those.
 */
const { values } = parseArgs({
  args: argv.slice(2),
  options: {
    attacker: { type: "string", default: "" },
    deno: { type: "string", default: "" },
    bun: { type: "string", default: "" },
    reyn: { type: "string", default: "dist/reyn" },
    filter: { type: "string", default: "" },
  },
});
let passed = 0;
let failed = 0;
console.log(`uid ${process.getuid?.()}, through reyn`);
for (const test of [...bulkCases, ...faultCases, ...programCases]) {
  if (!test.name.includes(values.filter)) continue;
  try {
    const figures = await runLoadCase(test, values);
    passed += 1;
    console.log(`ok     ${test.name}: ${figures}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED ${test.name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
console.log(`${passed} passed, ${failed} failed`);
exit(failed > 0 ? 1 : 0);
