import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { mergeValues, ownerOf } from "../../src/config/merge.ts";

describe("laying values over one another", () => {
  it("merges maps deeply and replaces the rest", () => {
    const under = { a: { b: 1, c: [1, 2], d: { e: 1 } }, f: 1 };
    const over = { a: { c: [3], d: 5, g: null }, h: 2 };
    assert.deepEqual(mergeValues([under, over]), { a: { b: 1, c: [3], d: 5, g: null }, f: 1, h: 2 });
    assert.deepEqual(under, { a: { b: 1, c: [1, 2], d: { e: 1 } }, f: 1 });
  });

  it("takes what is there when there is little", () => {
    assert.equal(mergeValues([]), undefined);
    assert.equal(mergeValues([undefined, 5, undefined]), 5);
  });

  it("does not mistake inherited names for keys", () => {
    assert.deepEqual(mergeValues([{ a: 1 }, { constructor: { b: 1 } }]), { a: 1, constructor: { b: 1 } });
  });
});

describe("whose a part of a merged value is", () => {
  const sources = [
    { name: "operator", value: { a: { b: 1, c: [{ x: 1 }], d: { e: 1 } }, only: 1 } },
    { name: "base", value: { a: { b: 2, d: 5 } } },
    { name: "local", value: { a: { d: { f: 1 } } } },
  ];
  const owner = (...path: (string | number)[]) => ownerOf(sources, path)?.name;

  it("is the topmost file that wrote it", () => {
    assert.equal(owner("a", "b"), "base");
    assert.equal(owner("a", "c", 0, "x"), "operator");
    assert.equal(owner("only"), "operator");
    assert.equal(owner("a", "d", "f"), "local");
  });

  it("is the topmost file that wrote what is nearest above, for what is not there", () => {
    assert.equal(owner("a", "nope"), "local");
    assert.equal(owner("a", "c", 0, "nope"), "operator");
    assert.equal(owner("nope"), "local");
  });

  it("is not a file whose part is hidden", () => {
    // `d: 5` of base hides the operator's map, and local's map hides that.
    assert.equal(owner("a", "d", "e"), "local");
  });
});
