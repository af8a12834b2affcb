import { availableParallelism } from "node:os";
import { argv, exit } from "node:process";
import { parseArgs } from "node:util";
import { binaryStages } from "./ci/binary_stages.ts";
import { checkStages } from "./ci/check_stages.ts";
import { type FinishedStage, runStages } from "./ci/schedule.ts";
import { toolStages } from "./ci/tool_stages.ts";
import { unitStages } from "./ci/unit_stages.ts";

/**
 * `deno task test`, `deno task check`: runs the stages that `--only=a,b` names, default all, and ends with the line
 * `N passed, N failed`. A stage without tests of its own counts as one. Exit 1 when anything failed.
 */
const LONGEST_OUTPUT_LINES = 250;

const { values } = parseArgs({ args: argv.slice(2), options: { only: { type: "string" } } });
const [tools, checks, units, binaries] = [toolStages(), await checkStages(), unitStages(), binaryStages()];
const byName = new Map([...tools, ...checks, ...units, ...binaries].map((stage) => [stage.name, stage]));
const groups = new Map<string, string[]>([
  ["check", checks.map((stage) => stage.name)],
  ["unit", ["install", "compilers", ...units.map((stage) => stage.name)]],
]);
const order = [
  "install",
  "compilers",
  "types",
  ...units.map((s) => s.name),
  "lint",
  "format",
  "layers",
  "docs",
  "compile",
];
const names = values.only?.split(",").flatMap((name) => groups.get(name) ?? [name]) ??
  [...new Set([...order, ...byName.keys()])].filter((name) => byName.has(name));
const unknown = names.filter((name) => !byName.has(name));
if (unknown.length > 0) {
  console.error(
    `no such stage: ${unknown.join(", ")}; there are: ${[...byName.keys(), ...groups.keys()].join(", ")}`,
  );
  exit(2);
}

const started = performance.now();
const line = ({ name, failed, passed, seconds, note }: FinishedStage): string => {
  const counts = passed + failed > 1 ? ` ${passed} passed, ${failed} failed` : "";
  return `${failed > 0 ? "FAILED" : "ok    "} ${seconds.toFixed(1).padStart(6)} s  ${name}${counts}` +
    (note ? ` (${note})` : "");
};
const stages = names.flatMap((name) => byName.get(name) ?? []);
const results = await runStages(
  stages,
  Math.min(2, availableParallelism()),
  (stage) => console.log(line(stage)),
);

const failing = results.filter(({ failed }) => failed > 0);
for (const { name, output } of failing) {
  const lines = output.trimEnd().split("\n");
  console.log(`\n--- ${name}`);
  if (lines.length > LONGEST_OUTPUT_LINES) {
    console.log(`(${lines.length - LONGEST_OUTPUT_LINES} lines left out)`);
  }
  console.log(lines.slice(-LONGEST_OUTPUT_LINES).join("\n"));
}
const sum = (key: "passed" | "failed") => results.reduce((total, stage) => total + stage[key], 0);
console.log(`\n${results.length} stages in ${((performance.now() - started) / 1000).toFixed(0)} s`);
if (failing.length > 0) console.log(`failed: ${failing.map(({ name }) => name).join(", ")}`);
console.log(`${sum("passed")} passed, ${sum("failed")} failed`);
exit(failing.length > 0 ? 1 : 0);
