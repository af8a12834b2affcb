import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { replyText } from "../../src/model/reply_text.ts";

/** The whole reply, or the problem, of bytes that come in pieces of `size`. */
function read(bytes: Uint8Array, size: number, limit = 1000): string {
  const reply = replyText(limit);
  let text = "";
  for (let at = 0; at < bytes.length; at += size) {
    const part = reply.add(bytes.subarray(at, at + size));
    if (!part.ok) return `problem: ${part.problem}`;
    text += part.text;
  }
  const last = reply.end();
  return last.ok ? text + last.text : `problem: ${last.problem}`;
}

const utf8 = (text: string) => new TextEncoder().encode(text);

describe("the text of a reply", () => {
  it("is the same however its bytes are cut", () => {
    const text = "aé€😀\r\n\n\rz\ufeff\t\u001b[1m";
    for (const size of [1, 2, 3, 5, 100]) assert.equal(read(utf8(text), size), text);
  });

  it("leaves out one newline at its very end, and no other", () => {
    for (const size of [1, 100]) {
      assert.equal(read(utf8("a\n"), size), "a");
      assert.equal(read(utf8("a\r\n"), size), "a");
      assert.equal(read(utf8("a\n\n"), size), "a\n");
      assert.equal(read(utf8("\na\nb"), size), "\na\nb");
      assert.equal(read(utf8("a\r"), size), "a\r");
      assert.equal(read(utf8(" a \n"), size), " a ");
    }
  });

  it("gives text before the end has come", () => {
    const reply = replyText(1000);
    assert.deepEqual(reply.add(utf8("one\n")), { ok: true, text: "one" });
    assert.deepEqual(reply.add(utf8("two")), { ok: true, text: "\ntwo" });
  });

  it("refuses nothing at all", () => {
    assert.equal(read(utf8(""), 1), "problem: its reply is empty");
    assert.equal(read(utf8("\n"), 1), "problem: its reply is empty");
    assert.equal(read(utf8("\r\n"), 1), "problem: its reply is empty");
  });

  it("refuses what is not UTF-8", () => {
    const cases = [[0xff], [0x61, 0xc3], [0xed, 0xa0, 0x80], [0xc0, 0x80], [0xf0, 0x9f, 0x98], [0x80]];
    for (const bytes of cases) {
      for (const size of [1, 10]) {
        assert.equal(read(Uint8Array.from(bytes), size), "problem: its reply is not UTF-8");
      }
    }
  });

  it("refuses a NUL byte", () => {
    assert.equal(read(utf8("a\0b"), 2), "problem: its reply holds a NUL byte");
  });

  it("takes as many bytes as the limit and not one more", () => {
    assert.equal(read(utf8("x".repeat(2048)), 100, 2048), "x".repeat(2048));
    const problem = "problem: its reply is longer than 2KiB (output_limit)";
    assert.equal(read(utf8("x".repeat(2049)), 100, 2048), problem);
  });
});
