import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { formatFinding } from "../../src/errors/finding.ts";
import { finding, formatError, ReynError } from "../../src/errors/reyn_error.ts";

describe("what the operator is shown of an error", () => {
  it("is one line with place, code, subject, message, fix and what is accepted", () => {
    const shown = formatFinding(finding("E_KEY_UNKNOWN", 'unknown key "onn"', {
      subject: "hooks[1]",
      place: { file: "reyn.yaml", line: 12, column: 5 },
      fix: 'did you mean "on"?',
      allowed: ["on", "name"],
    }));
    assert.equal(
      shown,
      'reyn.yaml:12:5 E_KEY_UNKNOWN hooks[1]: unknown key "onn" (did you mean "on"?); allowed: on, name',
    );
  });

  it("cannot be steered by a file name or a value that it repeats", () => {
    const odd = "a\u001b[31m\nE_OK fine\u202e";
    const shown = "a\\u{1b}[31m\\u{a}E_OK fine\\u{202e}";
    assert.equal(formatError(new ReynError("E_FILE_UNREADABLE", odd)), `E_FILE_UNREADABLE ${shown}`);
    const place = { file: odd, line: 1, column: 1 };
    assert.equal(
      formatFinding(finding("E_FILE_UNREADABLE", odd, { place })),
      `${shown}:1:1 E_FILE_UNREADABLE ${shown}`,
    );
  });
});
