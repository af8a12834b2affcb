import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { compileGlob, globWarning } from "../../src/match/mod.ts";

type Row = [pattern: string, value: string, matches: boolean];

const table: Row[] = JSON.parse(readFileSync(new URL("../tables/fnmatch.json", import.meta.url), "utf8"));

describe("a glob", () => {
  it("matches what Python's fnmatch matches", () => {
    assert.ok(table.length >= 800);
    const wrong = table.filter(([pattern, value, matches]) => compileGlob(pattern)(value) !== matches);
    assert.deepEqual(wrong, []);
  });

  it("gives the same answer when it is used again", () => {
    const glob = compileGlob("*[ab]?c");
    assert.deepEqual(["xaxc", "xaxd", "axc", "xaxc"].map(glob), [true, false, true, true]);
  });

  it("crosses slashes with a star and wants the slash that is written before it", () => {
    const src = compileGlob("/r/src/**");
    assert.deepEqual(["/r/src/a", "/r/src/x/a", "/r/srcs/x", "/r/src"].map(src), [true, true, false, false]);
  });

  it("does not take `/**/` for zero folders", () => {
    const glob = compileGlob("/r/**/*.ts");
    assert.deepEqual(["/r/x/a.ts", "/r/a.ts"].map(glob), [true, false]);
  });

  it("is done with hostile patterns in time that grows with the size of both, not with their combinations", () => {
    const value = "a".repeat(100_000);
    const started = performance.now();
    assert.equal(compileGlob("*a".repeat(500) + "*b")(value), false);
    assert.equal(compileGlob("*a".repeat(500) + "*b*")(value), false);
    assert.equal(compileGlob("*[ab]?".repeat(100) + "*b")(value), false);
    assert.equal(compileGlob("*" + "?".repeat(300) + "b")(value), false);
    assert.equal(compileGlob("*" + "a".repeat(1000) + "b*a")(value), false);
    assert.ok(performance.now() - started < 5000);
  });
});

describe("the warning about a glob", () => {
  it("is given for `/**/`", () => {
    assert.match(globWarning("/r/**/*.ts") ?? "", /does not mean zero folders.*`\/r\/\*\*\.ts` also matches/);
  });

  it("names a pattern that does match without a folder between", () => {
    const warning = globWarning("/r/**/x.ts") ?? "";
    const instead = /; `([^`]+)`/.exec(warning)?.[1] ?? "";
    assert.deepEqual(["/r/x.ts", "/r/a/x.ts"].map(compileGlob(instead)), [true, true]);
  });

  it("is not given for stars at the end or between other characters", () => {
    assert.deepEqual(["/r/**", "**/x", "*.ts", "/r/a**/b"].map(globWarning), Array(4).fill(undefined));
  });
});
