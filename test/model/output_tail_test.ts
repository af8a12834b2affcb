import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { outputTail } from "../../src/model/output_tail.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);

describe("the tail of an output", () => {
  it("is the last bytes, over however many chunks", () => {
    const tail = outputTail(5);
    for (const text of ["abc", "defghijk", "l", ""]) tail.add(utf8(text));
    assert.equal(tail.text(), "hijkl");
  });

  it("begins with a whole character", () => {
    const tail = outputTail(5);
    tail.add(utf8("😀😀a"));
    assert.equal(tail.text(), "😀a");
    const cut = outputTail(3);
    cut.add(utf8("😀ab"));
    assert.equal(cut.text(), "ab");
  });

  it("leaves out white space at both ends and replaces what is not UTF-8", () => {
    const tail = outputTail(500);
    tail.add(Uint8Array.from([0x20, 0x61, 0xff, 0x0a, 0x62, 0x0a]));
    assert.equal(tail.text(), "a\ufffd\nb");
  });
});
