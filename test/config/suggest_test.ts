import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { didYouMean, suggest } from "../../src/config/suggest.ts";

const POINTS = ["session_start", "session_end", "turn_start", "turn_end"];

describe("suggesting what was meant", () => {
  it("sees through case and separators", () => {
    for (
      const word of ["SessionStart", "session-start", "sessionStart", "SESSION_START", " session start "]
    ) {
      assert.equal(suggest(word, POINTS), "session_start", word);
    }
  });

  it("takes a swap of neighbours as one edit", () => {
    assert.equal(suggest("no", ["on", "name"]), "on");
    assert.equal(suggest("turn_edn", POINTS), "turn_end");
  });

  it("finds a letter too many, too few or wrong", () => {
    assert.equal(suggest("onn", ["name", "on"]), "on");
    assert.equal(suggest("matchr", ["matcher"]), "matcher");
    assert.equal(suggest("sefety", ["safety"]), "safety");
  });

  it("allows a third of a long word", () => {
    assert.equal(suggest("max_hook_drivn_trn", ["max_hook_driven_turns"]), "max_hook_driven_turns");
  });

  it("takes the nearest, and the first of equals", () => {
    assert.equal(suggest("turn_ent", ["turn_event", "turn_end"]), "turn_end");
    assert.equal(suggest("ab", ["ac", "ad"]), "ac");
  });

  it("is silent when nothing is near", () => {
    assert.equal(suggest("webhook", POINTS), undefined);
    assert.equal(suggest("x", ["on"]), undefined);
    assert.equal(suggest("", POINTS), undefined);
    assert.equal(suggest("a".repeat(1_000_000), POINTS), undefined);
  });

  it("is worded as a question", () => {
    assert.equal(didYouMean("onn", ["on"]), 'did you mean "on"?');
    assert.equal(didYouMean("zzz", ["on"]), undefined);
  });
});
