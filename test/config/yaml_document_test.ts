import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Path } from "../../src/config/section.ts";
import { parseYaml } from "../../src/config/yaml_document.ts";
import { formatFinding } from "../../src/errors/finding.ts";
import { ALPHABET, mutator, random } from "./mutate.ts";

function findings(text: string): string[] {
  return parseYaml(text, "f").findings.map(formatFinding);
}

function value(text: string): unknown {
  const parsed = parseYaml(text, "f");
  assert.deepEqual(parsed.findings, []);
  return parsed.value;
}

const DEEP = "is nested more than 64 deep";

describe("a YAML document", () => {
  it("is YAML 1.2: on, yes and no are text", () => {
    assert.deepEqual(value("on: yes\nno: off\n"), { on: "yes", no: "off" });
    assert.deepEqual(value('"on": turn_end'), value("on: turn_end"));
    assert.deepEqual(value("{on: turn_end}"), value("on: turn_end"));
    assert.deepEqual(value("a: 0o17\nb: 017\nc: 1e3\nd: ~\ne: true"), {
      a: 15,
      b: 17,
      c: 1000,
      d: null,
      e: true,
    });
  });

  it("is an empty mapping when it holds nothing", () => {
    for (const text of ["", "\n", "# only a comment\n", "---\n", "null", "~"]) {
      assert.deepEqual(value(text), {}, text);
    }
  });

  it("must be a mapping, or a list where that is asked", () => {
    assert.deepEqual(findings("- a"), ["f:1:1 E_CONFIG_TYPE the file must hold a mapping, got a list"]);
    assert.deepEqual(findings("\nhello"), ['f:2:1 E_CONFIG_TYPE the file must hold a mapping, got "hello"']);
    assert.deepEqual(parseYaml("- a", "f", "list").value, ["a"]);
    assert.deepEqual(parseYaml("", "f", "list").value, []);
    assert.equal(parseYaml("a: 1", "f", "list").value, undefined);
  });

  it("accepts CRLF and a document end", () => {
    assert.deepEqual(value("---\r\na: 1\r\nb: |\r\n  x\r\n...\r\n"), { a: 1, b: "x\n" });
  });
});

describe("a place in a YAML document", () => {
  const text = `# top
name: demo
hooks:
  - on: turn_end
    matcher: {agent: "x"}
    empty:
  - on: b
base: &b { x: 1, list: [1, 2] }
use: *b
`;
  const document = parseYaml(text, "reyn.yaml");
  const at = (path: Path) => {
    const { line, column } = document.locate(path);
    return `${line}:${column}`;
  };
  const atKey = (path: Path) => {
    const { line, column } = document.locateKey(path);
    return `${line}:${column}`;
  };

  it("is the value's", () => {
    assert.equal(at(["name"]), "2:7");
    assert.equal(at(["hooks", 0, "matcher", "agent"]), "5:22");
    assert.equal(at(["base", "list", 1]), "8:28");
    assert.deepEqual(document.locate(["name"]).file, "reyn.yaml");
  });

  it("is the key's where that is asked", () => {
    assert.equal(atKey(["name"]), "2:1");
    assert.equal(atKey(["hooks", 0, "matcher", "agent"]), "5:15");
  });

  it("is the key's for a value that is empty", () => {
    assert.equal(at(["hooks", 0, "empty"]), "6:5");
  });

  it("is that of what is nearest above for what is not there", () => {
    assert.equal(at(["hooks", 1, "matcher", "x"]), "7:5");
    assert.equal(at(["hooks", 9]), "4:3");
    assert.equal(at([]), "2:1");
  });

  it("is the alias for what an alias gives", () => {
    assert.equal(at(["use", "x"]), "9:6");
    assert.equal(at(["use"]), "9:6");
  });
});

describe("what is wrong in a YAML document", () => {
  it("is all told, shortly", () => {
    assert.deepEqual(findings("a: [1, 2\nb: 3\n").length, 1);
    assert.deepEqual(findings("a: 'open\n"), ["f:2:1 E_YAML_SYNTAX missing closing 'quote"]);
    assert.deepEqual(findings("a: b: c\nd: e: f\n"), [
      "f:1:4 E_YAML_SYNTAX nested mappings are not allowed in compact mappings",
      "f:2:4 E_YAML_SYNTAX nested mappings are not allowed in compact mappings",
    ]);
  });

  it("is a tab that indents", () => {
    assert.deepEqual(findings("a:\n\tb: 1\n\tc: 2\n"), [
      "f:2:1 E_YAML_SYNTAX a tab cannot indent (use spaces)",
      "f:3:1 E_YAML_SYNTAX a tab cannot indent (use spaces)",
    ]);
  });

  it("is a key given twice, at the second, whatever its quotes", () => {
    assert.deepEqual(findings('on: a\n"on": b\n'), [
      'f:2:1 E_YAML_DUPLICATE_KEY the key "on" is given twice',
    ]);
    assert.deepEqual(findings("h:\n  - {a: 1, b: 2, a: 3}\n"), [
      'f:2:18 E_YAML_DUPLICATE_KEY h[0]: the key "a" is given twice',
    ]);
  });

  it("is a tag", () => {
    assert.deepEqual(findings("a: !!js/function x\nb: !mine 1\nc: !!binary aGk=\n"), [
      "f:1:4 E_YAML_TAG unknown tag !!js/function (remove the tag)",
      "f:2:4 E_YAML_TAG unknown tag !mine (remove the tag)",
      "f:3:4 E_YAML_TAG unknown tag !!binary (remove the tag)",
    ]);
    assert.deepEqual(value("a: !!str 5"), { a: "5" });
  });

  it("is a second document, and another YAML", () => {
    assert.deepEqual(findings("a: 1\n---\nb: 2\n"), [
      "f:2:1 E_YAML_SYNTAX the file holds more than one document (remove the `---` line)",
    ]);
    assert.deepEqual(findings("%YAML 1.1\n---\na: yes\n"), [
      "f:1:1 E_YAML_SYNTAX reyn reads YAML 1.2 only (remove the %YAML line)",
    ]);
  });

  it("is a key that is not text", () => {
    assert.deepEqual(findings("h:\n  true: a\n  1: b\n  ? [x]\n  : c\n"), [
      "f:2:3 E_KEY_UNKNOWN h: unknown key true (write `on`, if that is what a YAML 1.1 tool made `true` of)",
      'f:3:3 E_KEY_UNKNOWN h: unknown key 1 (keys are text; quote it if it is meant: "1")',
      "f:4:5 E_KEY_UNKNOWN h: a key that is not text (keys are plain text)",
    ]);
  });

  it("is a merge key or __proto__", () => {
    assert.deepEqual(findings("a: &a {x: 1}\nb: {<<: *a}\n"), [
      'f:2:5 E_KEY_UNKNOWN b: unknown key "<<" (YAML 1.2 has no merge keys; write the keys out)',
    ]);
    const parsed = parseYaml("__proto__: {polluted: 1}\nconstructor: {prototype: {polluted: 1}}\n", "f");
    assert.deepEqual(parsed.findings.map(formatFinding), ['f:1:1 E_KEY_UNKNOWN unknown key "__proto__"']);
    assert.equal(Object.getPrototypeOf(parsed.value), Object.prototype);
    assert.deepEqual(Object.keys(parsed.value as object), ["constructor"]);
    assert.ok(!("polluted" in {}));
  });

  it("is a number that cannot be kept", () => {
    assert.deepEqual(findings("a: .inf\nb: .nan\nc: 9007199254740993\nd: 9007199254740991\n"), [
      "f:1:4 E_CONFIG_TYPE a: must be a finite number, got .inf",
      "f:2:4 E_CONFIG_TYPE b: must be a finite number, got .nan",
      "f:3:4 E_CONFIG_TYPE c: the number 9007199254740993 is beyond what can be kept exactly (quote it if it is text)",
    ]);
  });

  it("is listed up to a bound", () => {
    const many = findings(Array.from({ length: 80 }, (_, i) => `${i}: x`).join("\n"));
    assert.equal(many.length, 51);
    assert.match(many[50] ?? "", /30 more findings in this file are not shown/);
  });

  it("never shows control characters", () => {
    const [text = ""] = findings('"a\\e[2J\\u202eb": 1\n"a\\e[2J\\u202eb": 2\n');
    assert.equal(text, 'f:2:1 E_YAML_DUPLICATE_KEY the key "a\\u{1b}[2J\\u{202e}b" is given twice');
  });
});

describe("aliases", () => {
  it("give a copy of their own", () => {
    const parsed = value("a: &x {list: [1]}\nb: *x\nc: *x\n") as Record<string, unknown>;
    assert.deepEqual(parsed["b"], { list: [1] });
    assert.notEqual(parsed["b"], parsed["c"]);
  });

  it("mean the anchor before them", () => {
    assert.deepEqual(value("a: &x 1\nb: &y [*x]\nc: &x 2\nd: *y\ne: *x\n"), {
      a: 1,
      b: [1],
      c: 2,
      d: [1],
      e: 2,
    });
    assert.deepEqual(findings("a: *x\nb: &x 1\n"), [
      'f:1:4 E_YAML_ALIAS a: no anchor "x" stands before this alias',
    ]);
  });

  it("may not recurse", () => {
    assert.deepEqual(findings("a: &x [*x]\nb: &y {c: {d: *y}}\n"), [
      'f:1:8 E_YAML_ALIAS a[0]: the alias "x" is inside of what it stands for',
      'f:2:15 E_YAML_ALIAS b.c.d: the alias "y" is inside of what it stands for',
    ]);
  });

  it("may not multiply without bound", () => {
    let text = "a: &a [x,x,x,x,x,x,x,x,x]\n";
    for (const [from, to] of ["ab", "bc", "cd", "de", "ef", "fg", "gh"].map((pair) => pair.split(""))) {
      text += `${to}: &${to} [${Array(9).fill("*" + from).join(",")}]\n`;
    }
    const found = findings(text);
    assert.equal(found.length, 1);
    assert.match(found[0] ?? "", /^f:\d+:\d+ E_YAML_ALIAS .*aliases stand for more than 10000 values$/);
  });

  it("may be used in each of many entries", () => {
    const text = "m: &m {a: 1, b: 2}\nlist:\n" + "  - *m\n".repeat(500);
    assert.equal((value(text) as { list: unknown[] }).list.length, 500);
  });
});

describe("nesting", () => {
  it("goes 64 deep and no deeper", () => {
    assert.deepEqual(findings("a: " + "[".repeat(63) + "]".repeat(63)), []);
    assert.deepEqual(findings("a: " + "[".repeat(64) + "]".repeat(64)), [
      `f:1:67 E_YAML_DEPTH a[0]: ${DEEP}`,
    ]);
  });

  it("is refused at once when it goes on and on", () => {
    for (const unit of ["[", "{", "- ", "? ", "[a,"]) {
      const found = findings(unit.repeat(300_000));
      assert.equal(found.length, 1, unit);
      assert.match(found[0] ?? "", /E_YAML_DEPTH is nested more than 64 deep$/);
    }
  });
});

describe("any bytes at all", () => {
  const sample = `# sample
safety: { loop: { max: 25 }, on_limit: "warn" }
hooks:
  - on: turn_end
    name: &n 'first'
    template_push:
      message: |
        It ended: {{ user_text }}
      wake: yes
  - { on: "file_changed", matcher: { path: '*.md' }, name: *n }
  - on: !!str x
    ? [complex, key]
    : >-
      folded
`;
  function judge(text: string): void {
    const parsed = parseYaml(text, "f");
    assert.ok(parsed.value !== undefined || parsed.findings.length > 0, JSON.stringify(text));
    for (const { message, place } of parsed.findings) {
      assert.ok(place && place.line >= 1 && place.column >= 1, JSON.stringify(text));
      assert.ok(message.length <= 400 && !message.includes("\n"), JSON.stringify(text));
    }
    parsed.locate(["hooks", 1, "matcher", "path"]);
    parsed.locateKey(["hooks", 1, "matcher", "path"]);
  }

  it("give findings, not a fault, when a file is cut anywhere", () => {
    for (let end = 0; end <= sample.length; end++) judge(sample.slice(0, end));
  });

  it("give findings, not a fault, in 800 mutations", () => {
    const mutate = mutator(20261130, sample);
    for (let run = 0; run < 800; run++) judge(mutate());
  });

  it("give findings, not a fault, at random", () => {
    const below = random(7);
    for (let run = 0; run < 500; run++) {
      const bytes = Uint8Array.from({ length: below(200) }, () => below(256));
      judge(new TextDecoder().decode(bytes));
      judge(Array.from({ length: below(80) }, () => ALPHABET[below(ALPHABET.length)]).join(""));
    }
  });
});
