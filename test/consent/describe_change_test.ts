import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { describeChange } from "../../src/consent/describe_change.ts";
import { HEX, key } from "./support.ts";

describe("describeChange()", () => {
  const rows: [string, Parameters<typeof key>[0], Parameters<typeof key>[0], string[]][] = [
    ["nothing", {}, {}, []],
    ["the program", { argv: ["/a", "x"] }, { argv: ["/b", "x"] }, ['program was "/a", is "/b"']],
    ["an argument", { argv: ["/a", "x"] }, { argv: ["/a", "y"] }, ['argument 1 was "x", is "y"']],
    ["a new argument", { argv: ["/a"] }, { argv: ["/a", "y"] }, ['argument 1 "y" is new']],
    ["a lost argument", { argv: ["/a", "y"] }, { argv: ["/a"] }, ['argument 1 "y" is gone']],
    ["the folder", {}, { cwd: "/srv/b" }, ['folder was "/srv/app", is "/srv/b"']],
    ["subprocess", {}, { grants: { subprocess: true } }, ["subprocess is asked for"]],
    ["less network", { grants: { network: true } }, {}, ["network is no longer asked for"]],
    [
      "network for some hosts",
      {},
      { grants: { network: ["a.org"] } },
      ['network was none, is "a.org"'],
    ],
    [
      "another host",
      { grants: { network: ["a.org"] } },
      { grants: { network: ["b.org"] } },
      ['network host "b.org" is asked for', 'network host "a.org" is no longer asked for'],
    ],
    ["a write path", {}, { grants: { writePaths: ["/x"] } }, ['write path "/x" is asked for']],
    ["a read path", { grants: { readPaths: ["/x"] } }, {}, ['read path "/x" is no longer asked for']],
    ["a variable", {}, { envNames: ["TOKEN"] }, ['environment variable "TOKEN" is asked for']],
    ["the sandbox", {}, { backend: "seatbelt" }, ['sandbox was "landlock", is "seatbelt"']],
    ["config", { config: { url: HEX("1"), b: HEX("1") } }, { config: { url: HEX("2"), a: HEX("1") } }, [
      'config "a" is new',
      'config "b" is gone',
      'config "url" changed',
    ]],
    ["content", { files: { "/a": HEX("1") } }, { files: { "/a": HEX("2") } }, ['content of "/a" changed']],
    ["a covered file more", {}, { files: { "/a": HEX("2") } }, ['file "/a" is new']],
    ["a covered file less", { files: { "/a": HEX("2") } }, {}, ['file "/a" is gone']],
    [
      "where a link leads",
      { files: { "/a": "-> /usr/bin/env" } },
      { files: { "/a": "-> /usr/bin/id" } },
      ['what "/a" leads to changed'],
    ],
    ["a hidden character", { argv: ["/a"] }, { argv: ["/a\u202e"] }, ['program was "/a", is "/a\\u{202e}"']],
  ];
  for (const [says, before, after, changes] of rows) {
    it(`names ${says}`, () => assert.deepEqual(describeChange(key(before), key(after)), changes));
  }

  it("stays short", () => {
    const envNames = Array.from({ length: 50 }, (_, i) => `N${i}`);
    const changes = describeChange(key(), key({ envNames }));
    assert.equal(changes.length, 20);
    assert.equal(changes.at(-1), "31 more changes");
  });
});
