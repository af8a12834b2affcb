import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { compileMatcher } from "../../src/match/mod.ts";

const failed = (matcher: Record<string, string>, payload: Record<string, unknown>) =>
  compileMatcher(matcher).failedField(payload);

describe("a matcher", () => {
  it("without fields matches everything", () => {
    assert.equal(failed({}, { a: 1 }), null);
  });

  it("names the first field that does not match", () => {
    const matcher = { server: "github", uri: "file:///repo/**", resync: "true" };
    const payload = { server: "github", uri: "file:///repo/a", resync: true };
    assert.equal(failed(matcher, payload), null);
    assert.equal(failed(matcher, { ...payload, resync: false }), "resync");
    assert.equal(failed(matcher, { ...payload, uri: "x", resync: false }), "uri");
    assert.equal(failed({ server: "x" }, payload), "server");
  });

  it("matches uri and path as globs and every other field by equality", () => {
    assert.equal(failed({ uri: "git*" }, { uri: "github" }), null);
    assert.equal(failed({ path: "*.ts" }, { path: "/x/y.ts" }), null);
    assert.equal(failed({ server: "git*" }, { server: "github" }), "server");
    assert.equal(failed({ server: "git*" }, { server: "git*" }), null);
    assert.equal(failed({ server: "GitHub" }, { server: "github" }), "server");
  });

  it("matches numbers by their JSON text", () => {
    assert.equal(failed({ n: "3" }, { n: 3 }), null);
    assert.equal(failed({ n: "3" }, { n: "3" }), null);
    assert.equal(failed({ n: "-0.5" }, { n: -0.5 }), null);
    assert.equal(failed({ n: "3.0" }, { n: 3 }), "n");
    assert.equal(failed({ n: "" }, { n: 0 }), "n");
    assert.equal(failed({ n: "NaN" }, { n: NaN }), "n");
    assert.equal(failed({ uri: "3*" }, { uri: 31 }), null);
  });

  it("matches booleans written the JSON way or the Python way, and no other spelling", () => {
    for (const pattern of ["true", "True"]) assert.equal(failed({ b: pattern }, { b: true }), null);
    for (const pattern of ["false", "False"]) assert.equal(failed({ b: pattern }, { b: false }), null);
    assert.equal(failed({ b: "true" }, { b: false }), "b");
    assert.equal(failed({ b: "TRUE" }, { b: true }), "b");
    assert.equal(failed({ b: "1" }, { b: true }), "b");
    assert.equal(failed({ b: "True" }, { b: "true" }), "b");
    assert.equal(failed({ path: "T*" }, { path: true }), null);
  });

  it("never matches what is absent, null, a list or a map", () => {
    for (const value of [undefined, null, [], ["a"], {}, { a: 1 }]) {
      for (const pattern of ["", "null", "None", "undefined", "a", "[object Object]"]) {
        assert.equal(failed({ f: pattern }, { f: value }), "f");
      }
      assert.equal(failed({ path: "*" }, { path: value }), "path");
    }
    assert.equal(failed({ f: "" }, {}), "f");
  });

  it("sees own fields only", () => {
    const inherited: Record<string, unknown> = Object.create({ agent_name: "a", path: "/x" });
    assert.equal(failed({ agent_name: "a" }, inherited), "agent_name");
    assert.equal(failed({ path: "*" }, inherited), "path");
    assert.equal(failed({ agent_name: "a", path: "*" }, inherited), "agent_name");
    assert.equal(failed({ constructor: "a" }, {}), "constructor");
    assert.equal(failed({ ["__proto__"]: "a" }, {}), "__proto__");
  });
});
