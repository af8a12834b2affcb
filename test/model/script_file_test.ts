import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { formatFinding } from "../../src/errors/finding.ts";
import { readScript } from "../../src/model/script_file.ts";

describe("a script file", () => {
  let folder = "";
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), "reyn-script-"));
  });
  after(() => rmSync(folder, { recursive: true }));

  function read(text: string): ReturnType<typeof readScript> {
    const file = path.join(folder, "replies.yaml");
    writeFileSync(file, text);
    return readScript(file, "replies.yaml");
  }

  function entries(text: string): unknown {
    const result = read(text);
    return result.state === "ok" ? result.entries : result;
  }

  function said(text: string): string[] {
    const result = read(text);
    return result.state === "failed" ? result.findings.map(formatFinding) : [];
  }

  it("is a list of steps", () => {
    const text = `
- say: hello
- tool_calls: [{ name: read_file, args: { path: a.txt, deep: [1, { x: ~ }] } }, { name: list }]
  say: two
- { delay: 1.5, fail: no credit }
- { delay: 2m, say: "on" }
`;
    assert.deepEqual(entries(text), [
      { say: "hello", toolCalls: [], delayMs: 0 },
      {
        say: "two",
        toolCalls: [{ name: "read_file", args: { path: "a.txt", deep: [1, { x: null }] } }, {
          name: "list",
          args: {},
        }],
        delayMs: 0,
      },
      { toolCalls: [], delayMs: 1500, fail: "no credit" },
      { say: "on", toolCalls: [], delayMs: 120_000 },
    ]);
  });

  it("may be empty", () => {
    assert.deepEqual(entries("[]\n"), []);
  });

  it("is refused with the place of everything that is wrong with it", () => {
    const text = `
- sya: hello
- say: 5
- delay: soon
  say: x
- delay: 1s
- tool_calls: [{ nmae: a }]
- hello
- say: ""
`;
    assert.deepEqual(said(text).map((line) => line.replace(/ \(.*$/, "")), [
      'replies.yaml:2:3 E_KEY_UNKNOWN [0]: unknown key "sya"',
      "replies.yaml:2:3 E_CONFIG_MISSING [0]: does nothing",
      "replies.yaml:3:8 E_CONFIG_TYPE [1].say: must be text, got 5",
      "replies.yaml:4:10 E_CONFIG_TYPE [2].delay: must be a duration",
      "replies.yaml:6:3 E_CONFIG_MISSING [3]: does nothing",
      'replies.yaml:7:16 E_CONFIG_MISSING [4].tool_calls[0]: missing key "name"',
      'replies.yaml:7:18 E_KEY_UNKNOWN [4].tool_calls[0]: unknown key "nmae"',
      'replies.yaml:8:3 E_CONFIG_TYPE [5]: must be a mapping, got "hello"',
      "replies.yaml:9:8 E_CONFIG_TYPE [6].say: must not be empty",
    ]);
  });

  it("is refused when it is no list, or no YAML", () => {
    assert.match(
      String(said("say: x\n")),
      /^replies.yaml:1:1 E_CONFIG_TYPE the file must hold a list, got a mapping/,
    );
    assert.match(String(said("- say: [x\n")), /^replies.yaml:\d+:\d+ E_YAML_SYNTAX /);
    assert.match(String(said("- { say: a, say: b }\n")), /^replies.yaml:1:13 E_YAML_DUPLICATE_KEY /);
  });

  it("may be absent or no file at all, which is told apart", () => {
    assert.deepEqual(readScript(path.join(folder, "none.yaml"), "none.yaml"), { state: "absent" });
    mkdirSync(path.join(folder, "folder.yaml"));
    const result = readScript(path.join(folder, "folder.yaml"), "folder.yaml");
    assert.equal(result.state === "failed" && result.findings[0]?.code, "E_FILE_NOT_REGULAR");
  });
});
