import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { expandText, expandValue } from "../../src/config/env_expand.ts";
import { raw } from "../../src/config/marks.ts";

const ENV = { HOST: "example", EMPTY: "", TRICK: "${HOST} $$" };

function expanded(text: string): string {
  const result = expandText(text, ENV);
  return result.state === "text" ? result.text : `${result.code} ${result.message}`;
}

describe("environment variables in text", () => {
  it("are put in by name", () => {
    assert.equal(expanded("http://${HOST}/${HOST}"), "http://example/example");
    assert.equal(expanded("[${EMPTY}]"), "[]");
  });

  it("have a default for unset or empty", () => {
    assert.equal(expanded("${NOPE:-a b}"), "a b");
    assert.equal(expanded("${EMPTY:-x}"), "x");
    assert.equal(expanded("${HOST:-x}"), "example");
    assert.equal(expanded("${NOPE:-}"), "");
  });

  it("are an error when unset", () => {
    assert.equal(expanded("a ${NOPE}"), "E_ENV_UNSET the variable NOPE is not set");
    assert.match(expanded("${constructor}"), /^E_ENV_UNSET/);
    assert.match(expanded("${__proto__}"), /^E_ENV_UNSET/);
  });

  it("leave any other dollar as it is", () => {
    assert.equal(expanded("costs $5, $HOME, 5$"), "costs $5, $HOME, 5$");
    assert.equal(expanded("$$5 $${HOST} $$$${HOST}"), "$5 ${HOST} $${HOST}");
  });

  it("are an error when malformed", () => {
    for (const text of ["${", "${}", "${A", "${A-b}", "${1A}", "${A B}", "${A:-${B}}"]) {
      assert.match(expanded(text), /^E_ENV_SYNTAX/, text);
    }
  });

  it("are not looked for in what a variable holds", () => {
    assert.equal(expanded("${TRICK}"), "${HOST} $$");
  });
});

describe("environment variables in a value", () => {
  const schema = z.strictObject({
    url: z.string(),
    argv: raw(z.array(z.string())).optional(),
    list: z.array(z.strictObject({ text: raw(z.string()).optional(), name: z.string() })).default([]),
  });

  it("are put in everywhere but in raw parts", () => {
    const { value, uses } = expandValue(schema, {
      url: "${HOST}",
      argv: ["$$", "${HOST}", "${NOPE}"],
      list: [{ text: "${", name: "$$" }],
      unknown: "${HOST}",
    }, ENV);
    assert.deepEqual(value, {
      url: "example",
      argv: ["$$", "${HOST}", "${NOPE}"],
      list: [{ text: "${", name: "$" }],
      unknown: "example",
    });
    assert.deepEqual(uses.map((use) => use.path), [["url"], ["list", 0, "name"], ["unknown"]]);
  });

  it("leave a string that fails as it was", () => {
    const { value, uses } = expandValue(schema, { url: "${NOPE}" }, ENV);
    assert.deepEqual(value, { url: "${NOPE}" });
    assert.equal(uses[0]?.expanded.state, "failed");
  });
});
