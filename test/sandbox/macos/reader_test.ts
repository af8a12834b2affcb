import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { decide, decideSurely, type Request } from "../../../src/sandbox/macos/decide.ts";
import { printForm, readForms, rulesOf } from "../../../src/sandbox/macos/reader.ts";

const rules = (text: string) => {
  const read = readForms(text);
  assert.ok(read.ok, JSON.stringify(read));
  return rulesOf(read.forms);
};

describe("reading a profile", () => {
  it("knows lists, symbols, strings with escapes, raw strings and comments", () => {
    const read = readForms('(a "x\\"y\\\\z" #"^/\\.x" ; (not (this\n  b*)\n(c)');
    assert.ok(read.ok);
    assert.deepEqual(read.forms.map(printForm), ['(a "x\\"y\\\\z" "^/\\\\.x" b*)', "(c)"]);
    assert.deepEqual(read.forms.map((form) => form.line), [1, 3]);
  });

  it("says where a profile cannot be read", () => {
    const reasons = ['(a\n"b)', "(a\n(b)", "(a)\n)", "(".repeat(40)].map((text) => {
      const read = readForms(text);
      return read.ok ? "read" : `${read.line}: ${read.reason}`;
    });
    assert.deepEqual(reasons, [
      "2: a string does not end",
      "1: a parenthesis is not closed",
      "2: a parenthesis is closed that was not opened",
      "1: it is nested too deeply",
    ]);
  });

  it("tells operations, conditions and modifiers of a rule apart", () => {
    const [rule] = rules('(deny file-read* file-read-data (with message "x") (subpath "/a") (literal "/b"))');
    assert.deepEqual(rule?.operations, ["file-read*", "file-read-data"]);
    assert.deepEqual(rule?.filters.map(printForm), ['(subpath "/a")', '(literal "/b")']);
    assert.deepEqual(rule?.modifiers.map(printForm), ['(with message "x")']);
  });
});

describe("the model of decisions", () => {
  const read = (path: string): Request => ({ operation: "file-read-data", path });
  const surely = (text: string, request: Request) => decideSurely(rules(text), request);

  it("is closed where nothing is said", () => {
    assert.equal(surely("", read("/a")), "deny");
    assert.equal(surely("(deny default)", { operation: "process-fork" }), "deny");
    assert.equal(surely("(allow default)", { operation: "process-fork" }), "allow");
  });

  it("lets the last match of one name win", () => {
    const text = '(allow file-read* (subpath "/"))(deny file-read* (subpath "/a"))';
    assert.equal(surely(text, read("/a/b")), "deny");
    assert.equal(surely(text, read("/ab")), "allow");
    assert.equal(surely(`${text}(allow file-read* (literal "/a/b"))`, read("/a/b")), "allow");
  });

  it("shows the trap of a member that is allowed while its family is denied", () => {
    const text = '(allow file-read-data (subpath "/"))(deny file-read* (literal "/k"))';
    assert.equal(decide(rules(text), read("/k"), "narrowest_name"), "allow");
    assert.equal(decide(rules(text), read("/k"), "last_match"), "deny");
    assert.equal(surely(text, read("/k")), undefined);
    assert.equal(surely(`${text}(deny file-read-data (literal "/k"))`, read("/k")), "deny");
  });

  it("takes a literal for the thing alone and a subpath for whole components", () => {
    assert.equal(surely('(allow file-read* (literal "/a"))', read("/a/b")), "deny");
    assert.equal(surely('(allow file-read* (subpath "/a"))', read("/a")), "allow");
    assert.equal(surely('(allow file-read* (subpath "/a"))', read("/a.txt")), "deny");
  });

  it("combines conditions", () => {
    const text = '(allow file-read* (require-all (subpath "/d") (require-not (literal "/d/x"))))';
    assert.equal(surely(text, read("/d/y")), "allow");
    assert.equal(surely(text, read("/d/x")), "deny");
    assert.equal(
      surely('(allow file-read* (require-any (literal "/a") (literal "/b")))', read("/b")),
      "allow",
    );
  });

  it("tells processes, sockets and names apart", () => {
    const text = '(allow signal (target same-sandbox))(allow network-outbound (remote ip "*:*"))' +
      '(allow sysctl-read (sysctl-name-prefix "hw."))';
    assert.equal(surely(text, { operation: "signal", target: "self" }), "allow");
    assert.equal(surely(text, { operation: "signal", target: "others" }), "deny");
    assert.equal(surely(text, { operation: "network-outbound", socket: "ip" }), "allow");
    assert.equal(surely(text, { operation: "network-outbound", socket: "unix-socket", path: "/s" }), "deny");
    assert.equal(surely(text, { operation: "sysctl-read", name: "hw.ncpu" }), "allow");
    assert.equal(surely(text, { operation: "sysctl-read", name: "kern.procargs2" }), "deny");
  });

  it("assumes the worst of a condition that it does not know, also when it is turned round", () => {
    assert.equal(surely("(allow file-read* (extension x))", read("/a")), "allow");
    assert.equal(surely("(allow file-read*)(deny file-read* (extension x))", read("/a")), "allow");
    assert.equal(
      surely("(allow file-read*)(deny file-read* file-read-data (require-not (extension x)))", read("/a")),
      "allow",
    );
  });
});
