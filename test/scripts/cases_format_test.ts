import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { jsonMismatches } from "../../scripts/cases/match_json.ts";
import { type Bench, makeBench } from "./fake_binary.ts";

let bench: Bench;

async function assertFinding(caseYaml: string, expected: RegExp): Promise<void> {
  const findings = await bench.findings(caseYaml);
  assert.ok(
    findings.some((text) => expected.test(text)),
    `not found: ${findings.join(" | ") || "no findings"}`,
  );
}

describe("the format of a case", () => {
  before(async () => {
    bench = await makeBench();
  });
  after(() => bench.remove());

  it("refuses unknown keys, at their place, with the one that was meant", async () => {
    await assertFinding(
      `shows: x\nsteps:\n  - run: [a]\n    exect: {exit: 1}\n`,
      /^case.yaml:4:5 steps\[0\].exect: unknown key "exect" \(did you mean "expect"\?\)/,
    );
    await assertFinding(`shows: x\nsteps:\n  - runs: [a]\n`, /^case.yaml:3:5 .*did you mean "run"/);
    await assertFinding(`shows: x\nsteps: [{run: [a], expect: {exti: 1}}]`, /did you mean "exit"/);
    await assertFinding(`shows: x\nstep: []\nsteps: [{run: [a]}]`, /^case.yaml:2:1 step: unknown key/);
  });

  it("refuses wrong and missing values, all of them at once", async () => {
    const findings = await bench.findings(
      `steps:\n  - run: [a, 5]\n  - sleep: soon\n  - chmod: {path: a, mode: 600}\n`,
    );
    assert.deepEqual(findings.map((text) => text.split(" ")[0]), [
      "case.yaml:1:1",
      "case.yaml:2:14",
      "case.yaml:3:12",
      "case.yaml:4:28",
    ]);
  });

  it("refuses a step that does two things, and a background process with an expectation", async () => {
    await assertFinding(`shows: x\nsteps: [{run: [a], kill: b}]`, /one step does one thing/);
    await assertFinding(
      `shows: x\nsteps: [{run: [a], background: b, expect: {exit: 0}}]`,
      /judged by wait_exit/,
    );
  });

  it("refuses a name that no earlier step started", async () => {
    await assertFinding(
      `shows: x\nsteps: [{run: [a], background: one}, {wait_exit: {of: two}}]`,
      /no process "two" was started in the background before \(one\)/,
    );
  });

  it("refuses kill points and the clock without the test binary", async () => {
    await assertFinding(`shows: x\nsteps: [{run: [a], kill_at: b}]`, /kill_at needs/);
    await assertFinding(
      `shows: x\nsteps: [{run: [a], background: b}, {advance: {of: b, by: 1s}}]`,
      /advance needs/,
    );
  });

  it("refuses what is not YAML, duplicate keys and files without steps", async () => {
    await assertFinding(`shows: [\n`, /^case.yaml:\d+:\d+ /);
    await assertFinding(`shows: x\nshows: y\nsteps: [{run: [a]}]`, /^case.yaml:2:1 .*unique/);
    await assertFinding(`shows: x\nsteps: []`, /at least 1 entry/);
  });

  it("refuses patterns that are wrong, slow or ask nothing", async () => {
    const stdout = (matcher: string) => `shows: x\nsteps: [{run: [a], expect: {stdout: ${matcher}}}]`;
    await assertFinding(stdout(`{regex: "("}`), /not a regular expression/);
    await assertFinding(stdout(`{regex: "(a+)+$"}`), /may not repeat what is itself repeated/);
    await assertFinding(stdout(`{regex: "(a)\\\\1"}`), /may not refer back/);
    await assertFinding(
      stdout(`{json: {a: {$regx: b}}}`),
      /unknown key "\$regx" \(did you mean "\$regex"\?\)/,
    );
    await assertFinding(stdout(`{json: {a: {$any: true, b: 1}}}`), /cannot stand together/);
    await assertFinding(stdout(`{}`), /asks for nothing/);
    assert.deepEqual(await bench.findings(stdout(`{regex: "^(ab)+ [(+*]* (a|b)$"}`)), []);
  });

  it("refuses names that the matrix does not have, or that nothing uses", async () => {
    await assertFinding(`shows: x\nsteps: [{run: ["<<word>>"]}]`, /<<word>> is neither a name of the matrix/);
    await assertFinding(`shows: x\nmatrix: [{word: a}]\nsteps: [{run: [a]}]`, /no <<word>> uses/);
    await assertFinding(
      `shows: x\nmatrix: [{a: b, c: d}, {a: b}]\nsteps: [{run: ["<<a>><<c>>"]}]`,
      /does not say c/,
    );
    await assertFinding(
      `shows: x\nmatrix: [{name: a, b: c}, {name: a, b: d}]\nsteps: [{run: ["<<b>>"]}]`,
      /two rows have the same name/,
    );
  });

  it("refuses requests to other machines", async () => {
    await assertFinding(`shows: x\nsteps: [{http: {url: "http://example.org/"}}]`, /not a URL on 127.0.0.1/);
    assert.deepEqual(
      await bench.findings(`shows: x\nsteps: [{http: {url: "http://127.0.0.1:<<PORT>>/a"}}]`),
      [],
    );
  });
});

describe("matching JSON", () => {
  const matches = (actual: unknown, pattern: unknown) => jsonMismatches(actual, pattern).length === 0;

  it("takes a map for a subset and a list as it is", () => {
    assert.equal(matches({ a: 1, b: 2 }, { a: 1 }), true);
    assert.equal(matches({ a: 1 }, { a: 1, b: 2 }), false);
    assert.equal(matches([{ a: 1, b: 2 }], [{ a: 1 }]), true);
    assert.equal(matches([1, 2], [1]), false);
    assert.equal(matches("1", 1), false);
    assert.equal(matches(null, undefined), false);
  });

  it("asks by operators", () => {
    assert.equal(matches({ a: 1 }, { b: { $absent: true } }), true);
    assert.equal(matches({ a: null }, { a: { $absent: true } }), false);
    assert.equal(matches([1, 2, 3], { $contains: [1, 3] }), true);
    assert.equal(matches([1, 2, 3], { $contains: [3, 1] }), false);
    assert.equal(matches("abc", { $contains: "b", $length: 3, $not: "abd" }), true);
    assert.equal(matches({ a: 1, b: 2 }, { $exact: { b: 2, a: 1 } }), true);
    assert.equal(matches({ a: 1, b: 2 }, { $exact: { a: 1 } }), false);
    assert.equal(matches("ok", { $one_of: ["error", { $regex: "^o" }] }), true);
    assert.equal(matches(5, { $gte: 5, $lt: 6 }), true);
    assert.equal(matches("5", { $gte: 5 }), false);
  });
});
