import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseKind } from "../../src/composers/kinds.ts";

const MAIN = { agent: "default", sid: "main" };
const kindOf = (text: string, own = MAIN): string => {
  const parsed = parseKind(text, own);
  return parsed.ok ? parsed.input.kind : `refused: ${parsed.fix ?? parsed.message}`;
};

describe("the kind of an input", () => {
  it("is one for a point, however it is written", () => {
    for (
      const text of ["turn_end", " Turn_End ", "builtin:lifecycle:turn_end", "BUILTIN:LIFECYCLE:TURN_END"]
    ) {
      assert.equal(kindOf(text), "builtin:lifecycle:turn_end");
    }
    assert.equal(kindOf("file_changed"), "builtin:external:file_changed");
  });

  it("keeps the case of a composed name, and that of a kind from outside", () => {
    assert.equal(kindOf("composed:Deploy"), "composed:Deploy");
    assert.equal(kindOf("Composed:Deploy"), "composed:Deploy");
    assert.equal(kindOf("mcp:Server:Done"), "mcp:Server:Done");
    assert.equal(kindOf("http:ci:deployed"), "http:ci:deployed");
    assert.equal(kindOf("plugin.x:what:ever:it:is"), "plugin.x:what:ever:it:is");
  });

  it("splits an event of a model at the last colon, and knows the own session", () => {
    const slack = { agent: "default", sid: "slack:U1" };
    assert.equal(kindOf("llm:self:ready", slack), "llm:slack:U1:ready");
    assert.equal(kindOf("llm:slack:U1:ready", slack), "llm:slack:U1:ready");
    assert.equal(kindOf("llm:default/main:ready"), "llm:main:ready");
    assert.equal(kindOf("llm:main:ready", { agent: "reviewer", sid: "main" }), "llm:main:ready");
    assert.equal(
      kindOf("llm:default/main:ready", { agent: "reviewer", sid: "main" }),
      "llm:default/main:ready",
    );
  });

  it("is refused with what was meant", () => {
    assert.equal(kindOf("turn_ent"), 'refused: did you mean "turn_end"?');
    assert.equal(kindOf("builtin:external:turn_end"), 'refused: did you mean "turn_end"?');
    assert.equal(kindOf("composd:x"), 'refused: did you mean "composed"?');
    assert.equal(kindOf("buitlin:x:y"), 'refused: did you mean "builtin"?');
    for (
      const text of [
        "",
        "  ",
        ":",
        "composed:",
        "composed:a b",
        "mcp:server",
        "mcp::x",
        "mcp:a:",
        "llm:x",
        "llm:a:b c",
        "a\u202eb:c:d",
        `mcp:a:${"x".repeat(500)}`,
      ]
    ) {
      assert.match(kindOf(text), /^refused/, JSON.stringify(text));
    }
  });
});
