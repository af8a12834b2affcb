import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { missingFrom, readBunReport, readDenoReport } from "../../scripts/ci/junit.ts";
import { runStages, type Stage } from "../../scripts/ci/schedule.ts";
import { benchTable, keepsGoal } from "../../scripts/lib/bench_table.ts";

const DENO_REPORT = `<testsuites name="deno test" tests="5" failures="2">
<testsuite name="./a_test.ts"><testcase name="outer" line="3"><failure message="1 test step failed">x</failure></testcase>
<testcase name="top"></testcase>
<testcase name="alone"><failure message="m">no inner one failed</failure></testcase></testsuite>
<testsuite name="ext:deno_node/testing.ts">
<testcase name="outer &gt; good"></testcase>
<testcase name="outer &gt; bad &lt;&amp;&gt; &#10;"><failure message="m">at &lt;x&gt;</failure></testcase>
<testcase name="outer &gt; skipped"><skipped/></testcase>
<testcase name="outer &gt; inner"></testcase><testcase name="outer &gt; inner &gt; deep"></testcase>
<testcase name="alone &gt; good"></testcase>
</testsuite></testsuites>`;

const BUN_REPORT = `<testsuites name="bun test">
<testsuite name="test/a_test.ts" file="test/a_test.ts">
<testsuite name="outer" file="test/a_test.ts"><testcase name="good" classname="outer" time="0" />
<testcase name="bad &lt;&amp;&gt; &#10;" classname="outer"><failure type="A" message="m">x</failure></testcase>
<testcase name="skipped" classname="outer"><skipped message="TODO" /></testcase>
<testsuite name="inner"><testcase name="deep" classname="inner" /></testsuite></testsuite>
<testcase name="top" classname="" /></testsuite></testsuites>`;

describe("reading test reports", () => {
  it("counts what Deno ran once, and a suite that fails on its own too", () => {
    const tests = readDenoReport(DENO_REPORT);
    assert.deepEqual(tests.map(({ name, outcome }) => `${outcome} ${name}`).sort(), [
      "failed alone",
      "failed outer > bad <&> \n",
      "passed alone > good",
      "passed outer > good",
      "passed outer > inner > deep",
      "passed top",
      "skipped outer > skipped",
    ]);
  });

  it("names what Bun ran in the same way", () => {
    const names = readBunReport(BUN_REPORT).map(({ name }) => name);
    const denos = readDenoReport(DENO_REPORT);
    assert.deepEqual(missingFrom(readBunReport(BUN_REPORT), denos), []);
    assert.deepEqual(missingFrom(denos, readBunReport(BUN_REPORT)), ["alone", "alone > good"]);
    assert.equal(names.length, 5);
  });
});

describe("running stages", () => {
  const stage = (name: string, failed: number, rest: Partial<Stage> = {}): Stage => ({
    name,
    run: () => Promise.resolve({ passed: 1 - failed, failed, output: "" }),
    ...rest,
  });

  it("counts a stage as failed when what it needs failed, and runs the rest", async () => {
    const results = await runStages(
      [stage("a", 1), stage("b", 0, { needs: ["a"] }), stage("c", 0, { after: ["a"] })],
      2,
      () => undefined,
    );
    assert.deepEqual(results.map(({ name, failed }) => [name, failed]), [["a", 1], ["b", 1], ["c", 0]]);
    assert.match(results[1]?.output ?? "", /needs: a/);
  });

  it("counts a stage that throws as failed", async () => {
    const [result] = await runStages(
      [stage("a", 0, { run: () => Promise.reject(new Error("no")) })],
      2,
      () => undefined,
    );
    assert.equal(result?.failed, 1);
  });

  it("keeps to its lanes, and leaves one that wants to be alone alone", async () => {
    let running = 0;
    const seen: string[] = [];
    const slow = (name: string, rest: Partial<Stage> = {}) =>
      stage(name, 0, {
        ...rest,
        run: async () => {
          running++;
          await new Promise((resolve) => setTimeout(resolve, 5));
          seen.push(`${name}${running}`);
          running--;
          return { passed: 1, failed: 0, output: "" };
        },
      });
    await runStages([slow("a"), slow("b"), slow("c", { alone: true }), slow("d")], 2, () => undefined);
    assert.deepEqual(seen.filter((text) => text.startsWith("c")), ["c1"]);
    assert.ok(seen.every((text) => Number(text.slice(1)) <= 2), seen.join(" "));
    assert.equal(seen.length, 4);
  });

  it("refuses stages that wait for each other", async () => {
    await assert.rejects(
      runStages([stage("a", 0, { after: ["b"] }), stage("b", 0, { after: ["a"] })], 2, () => undefined),
      /wait for each other: a, b/,
    );
  });
});

describe("the bench table", () => {
  it("shows the floor, the ratio, and whether the goal is kept", () => {
    const row = { name: "dispatch", unit: "µs", value: 3, floor: 2, floorName: "empty call" };
    assert.equal(keepsGoal({ ...row, goal: { timesFloor: 2 } }), true);
    assert.equal(keepsGoal({ ...row, goal: { timesFloor: 1.2 } }), false);
    assert.equal(keepsGoal({ ...row, goal: { atLeast: 4 } }), false);
    assert.equal(keepsGoal(row), undefined);
    const table = benchTable([{ ...row, goal: { atMost: 2.5 } }]);
    assert.match(table, /dispatch\s+3\s+µs\s+2 \(empty call\)\s+1.5x\s+<= 2.5\s+MISSED/);
  });
});
