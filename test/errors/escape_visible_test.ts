import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { escapeVisible } from "../../src/errors/escape_visible.ts";

describe("text from outside, made visible", () => {
  it("keeps letters, marks, symbols and spaces of every script", () => {
    for (
      const text of ["", "plain text", "naïve é", "日本語 テキスト", "שלום مرحبا", "😀👍🏽", "a\u00a0b\u3000c"]
    ) {
      assert.equal(escapeVisible(text), text);
    }
  });

  it("shows every control character, newline and tab included", () => {
    for (let code = 0; code <= 0x9f; code++) {
      if (code >= 0x20 && code < 0x7f) continue;
      assert.equal(escapeVisible(`a${String.fromCharCode(code)}b`), `a\\u{${code.toString(16)}}b`);
    }
  });

  it("shows bidi, zero-width, separator, tag and other invisible characters", () => {
    const invisible = [
      0x061c,
      0x00ad,
      0x180e,
      0x200b,
      0x200c,
      0x200d,
      0x200e,
      0x200f,
      0x2028,
      0x2029,
      0x202a,
      0x202e,
    ];
    for (const code of [...invisible, 0x2060, 0x2066, 0x2069, 0xfeff, 0xe0001, 0xe0041]) {
      assert.equal(escapeVisible(`a${String.fromCodePoint(code)}b`), `a\\u{${code.toString(16)}}b`);
    }
  });

  it("shows half of a surrogate pair", () => {
    assert.equal(escapeVisible("a\ud800b\udc00"), "a\\u{d800}b\\u{dc00}");
  });
});
