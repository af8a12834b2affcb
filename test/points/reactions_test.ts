import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { DECISION_POINTS, DECISIONS } from "../../src/points/decisions.ts";
import { hasSource, namespacedName, parseTarget, REACTION_POINTS } from "../../src/points/reactions.ts";

describe("parseTarget()", () => {
  it("takes bare and namespaced names as one point", () => {
    for (const point of REACTION_POINTS) {
      assert.deepEqual(parseTarget(point), { kind: "builtin", point });
      assert.deepEqual(parseTarget(namespacedName(point)), { kind: "builtin", point });
    }
  });

  it("trims and case-folds builtin names", () => {
    assert.deepEqual(parseTarget("  Turn_End "), { kind: "builtin", point: "turn_end" });
  });

  it("keeps the case of a composed name", () => {
    assert.deepEqual(parseTarget("composed:Deploy"), { kind: "composed", name: "Deploy" });
  });

  it("knows no point under a wrong namespace, and nothing else", () => {
    for (
      const on of [
        "builtin:external:turn_end",
        "llm:main:x",
        "mcp:srv:evt",
        "webhook:x",
        "",
        "composed:",
        "SessionStart",
      ]
    ) {
      assert.equal(parseTarget(on), undefined, on);
    }
  });

  it("says which points something fires in this version", () => {
    assert.deepEqual(REACTION_POINTS.filter(hasSource), [
      "session_start",
      "session_end",
      "turn_start",
      "turn_end",
    ]);
  });
});

describe("decision points", () => {
  it("are seven, in the order in which a work item meets them", () => {
    assert.equal(DECISION_POINTS.length, 7);
    assert.deepEqual(Object.keys(DECISIONS), [...DECISION_POINTS]);
  });

  it("can be refused at exactly three of them", () => {
    const refusable = DECISION_POINTS.filter((point) => "proceed" in DECISIONS[point].decisions);
    assert.deepEqual(refusable, ["work_item_start", "session_spawn", "input_received"]);
  });
});
