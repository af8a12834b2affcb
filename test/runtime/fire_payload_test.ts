import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { REACTION_POINTS, REACTIONS } from "../../src/points/reactions.ts";
import { firedPayload, firedTarget } from "../../src/runtime/fire_payload.ts";

describe("firedPayload()", () => {
  for (const point of REACTION_POINTS) {
    it(`makes up every field of ${point}, with a value that the field can have`, () => {
      const made = firedPayload({ kind: "builtin", point }, {}, "reviewer");
      assert.deepEqual(Object.keys(made), Object.keys(REACTIONS[point].fields));
      assert.equal(made["point"], point);
      // What it made up it takes as given, too.
      assert.deepEqual(firedPayload({ kind: "builtin", point }, made, "reviewer"), made);
    });
  }

  it("keeps what is given, in the order of the fields, and refuses what the point does not have", () => {
    const target = firedTarget("builtin:lifecycle:Turn_End");
    const made = firedPayload(target, { status: "error", chain_id: "c" }, "default");
    assert.deepEqual([made["status"], made["chain_id"]], ["error", "c"]);
    const wrong = { stauts: "ok", status: "fine", hook_driven_turns: 1.5 };
    assert.throws(
      () => firedPayload(target, wrong, "default"),
      /no field "stauts".*"status".*status is never "fine".*hook_driven_turns must be of type integer/s,
    );
    assert.throws(() => firedPayload(target, { constructor: "x" }, "default"), /no field "constructor"/);
  });

  it("takes anything on a composed event", () => {
    const made = firedPayload(firedTarget("composed:Deploy"), { inputs: [1], more: null }, "default");
    assert.deepEqual(made, { inputs: [1], correlation_key: "__default__", more: null });
  });
});
