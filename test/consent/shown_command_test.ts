import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { shownCommand } from "../../src/consent/shown_command.ts";

describe("shownCommand()", () => {
  const rows: [string[], string][] = [
    [["git", "status"], "git status"],
    [["sh", "-c", "ls; touch x"], "sh -c 'ls; touch x'"],
    [["printf", "it's"], `printf 'it'"'"'s'`],
    [["x", ""], "x ''"],
    [["x", "$HOME", "*", ">>"], "x '$HOME' '*' '>>'"],
    [["echo", "a\u202eb"], "echo $'a\\u{202e}b'"],
    [["echo", "a\u200bb"], "echo $'a\\u{200b}b'"],
    [["echo", "\x1b[2Jx"], "echo $'\\u{1b}[2Jx'"],
    [["echo", "a\nb"], "echo $'a\\u{a}b'"],
    [["echo", "a'\\\n"], "echo $'a\\'\\\\\\u{a}'"],
    [["echo", "é ≤"], "echo 'é ≤'"],
  ];
  for (const [argv, shown] of rows) {
    it(`shows ${JSON.stringify(argv)} as ${shown}`, () => assert.equal(shownCommand(argv), shown));
  }

  it("shows a word that spells an escape otherwise than one that has the character", () => {
    assert.notEqual(shownCommand(["a\\u{202e}b"]), shownCommand(["a\u202eb"]));
  });
});
