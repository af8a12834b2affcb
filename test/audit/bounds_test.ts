import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { describe, it } from "node:test";
import { boundString, boundStrings, MAX_STRING_BYTES } from "../../src/audit/bounds.ts";

describe("the bound on strings of an event", () => {
  it("leaves short ones alone, and the object that holds only such", () => {
    const data = { error: "é".repeat(512), list: ["a", { b: null }], n: 1 };
    assert.equal(boundStrings(data), data);
  });

  it("cuts at a character, to at most 1 KiB with the mark of the cut", () => {
    for (
      const text of [
        "a".repeat(1025),
        "é".repeat(513),
        "€".repeat(400),
        "😀".repeat(300),
        "a" + "😀".repeat(256),
      ]
    ) {
      const cut = boundString(text);
      assert.ok(cut.endsWith("…"));
      assert.ok(text.startsWith(cut.slice(0, -1)));
      assert.ok(cut.isWellFormed());
      const bytes = Buffer.byteLength(cut);
      assert.ok(bytes <= MAX_STRING_BYTES && bytes > MAX_STRING_BYTES - 4, `${bytes} bytes`);
    }
  });

  it("reaches into lists and objects without touching what it was given", () => {
    const long = "x".repeat(5000);
    const data = { ids: ["a", long], verdicts: { fmt: long, lint: "run" } };
    const bounded = boundStrings(data) as typeof data;
    assert.equal(bounded.ids[1]?.length, MAX_STRING_BYTES - 2);
    assert.equal(bounded.verdicts.fmt.length, MAX_STRING_BYTES - 2);
    assert.equal(bounded.verdicts.lint, "run");
    assert.equal(data.ids[1], long);
  });

  it("ends on data that contains itself", () => {
    const data: Record<string, unknown> = { a: "b" };
    data["self"] = data;
    assert.equal(boundStrings(data), data);
  });
});
