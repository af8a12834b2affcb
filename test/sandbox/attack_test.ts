import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { KILL_CASES } from "./attack/kill_cases.ts";
import { ALL_CASES, openSuite, quickCases, type Suite } from "./attack/suite.ts";

/** Cases of each family that are tried here; scripts/attacks.ts tries them all. */
const PER_FAMILY = 2;
/** Each of the others takes seconds of waiting. */
const QUICK_KILLS = /ignores every signal|holds stdout|left session and parent|takes the program with it/;

describe("the attack suite", () => {
  let suite: Suite;
  before(async () => {
    suite = await openSuite();
  });
  after(() => suite.close());

  it("has every family, and more than 200 cases", () => {
    const families = new Set(ALL_CASES.map(({ family }) => family));
    const missing = Array.from({ length: 43 }, (_, i) => i + 1).filter((family) => !families.has(family));
    // These two are no single runs: inherited descriptors, and kills.
    assert.deepEqual(missing, [18, 43]);
    assert.ok(ALL_CASES.length >= 200, String(ALL_CASES.length));
    const names = ALL_CASES.map(({ family, name }) => `${family} ${name}`);
    assert.deepEqual(names.filter((name, i) => names.indexOf(name) !== i), [], "names are taken twice");
  });

  it("passes, in short", async () => {
    const failed: string[] = [];
    for (const attack of quickCases(PER_FAMILY)) {
      const result = await suite.run(attack, "confined");
      if (result.status === "failed") failed.push(`${attack.family} ${attack.name}: ${result.reason}`);
    }
    assert.deepEqual(failed, []);
  });

  it("would fail without a sandbox", async () => {
    const attacks = ALL_CASES.filter(({ name, family }) =>
      (family === 30 && name.startsWith("read the ")) || (family === 21 && !name.includes("ABI")) ||
      family === 12
    );
    const results = await Promise.all(attacks.map((attack) => suite.run(attack, "bare")));
    const passed = attacks.filter((_, i) => results[i]?.status === "passed").map(({ name }) => name);
    assert.ok(attacks.length > 15);
    assert.ok(passed.length <= 3, `passed without a sandbox: ${passed.join(", ")}`);
  });

  it("finds no inherited descriptor", async () => assert.equal(await suite.inherited(), 4));

  for (const test of KILL_CASES.filter(({ name }) => QUICK_KILLS.test(name))) {
    it(test.name, async () => await suite.kill(test));
  }
});
