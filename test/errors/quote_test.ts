import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { formatFinding } from "../../src/errors/finding.ts";
import { quote } from "../../src/errors/quote.ts";

describe("text from outside", () => {
  it("shows what a terminal would obey or hide", () => {
    assert.equal(quote("a\u001b[2J\u202eb"), '"a\\u{1b}[2J\\u{202e}b"');
    assert.equal(quote("grüße 日本 😀"), '"grüße 日本 😀"');
  });

  it("is quoted on one line, and cut when long", () => {
    assert.equal(quote('a"b\\c\nd\te'), '"a\\"b\\\\c\\nd\\te"');
    assert.equal(quote("x".repeat(70)), `"${"x".repeat(60)}…"`);
    assert.equal(quote("abcdef", 3), '"abc…"');
  });
});

describe("a finding", () => {
  it("is one line: place, code, subject, message, fix, what is allowed", () => {
    const finding = { code: "E_KEY_UNKNOWN", severity: "error", message: 'unknown key "onn"' } as const;
    assert.equal(formatFinding(finding), 'E_KEY_UNKNOWN unknown key "onn"');
    assert.equal(
      formatFinding({
        ...finding,
        place: { file: "reyn.yaml", line: 12, column: 5 },
        subject: "hooks[1]",
        fix: 'did you mean "on"?',
        allowed: ["on", "name"],
      }),
      'reyn.yaml:12:5 E_KEY_UNKNOWN hooks[1]: unknown key "onn" (did you mean "on"?); allowed: on, name',
    );
  });
});
