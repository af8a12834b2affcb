import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { escapeOutside } from "../../src/template/mod.ts";
import { failure, text as textOf } from "./helpers.ts";

const text = (source: string, variables: Record<string, unknown>) =>
  textOf(source, variables, { escapeValues: true });
const RAW = /[^\P{Cc}\n]|[\u2028\u2029\u202e]/u;

describe("text from outside", () => {
  it("is put into one line with everything that is hidden made visible", () => {
    assert.equal(escapeOutside("a\nb\rc\td\0\x1b[0m\x7f\x85"), "a\\nb\\rc\\td\\u{0}\\u{1b}[0m\\u{7f}\\u{85}");
    assert.equal(
      escapeOutside("\u2028\u2029\u202e\u2066\u200e\u061c\u200b\ufeff\u{e0041}"),
      "\\u{2028}\\u{2029}\\u{202e}\\u{2066}\\u{200e}\\u{61c}\\u{200b}\\u{feff}\\u{e0041}",
    );
    assert.equal(escapeOutside("\ud83d x \ude00"), "\\u{d83d} x \\u{de00}");
  });

  it("stays as it is where nothing is hidden", () => {
    for (const plain of ["", "C:\\new\\table", "héllo 中文 😀 👨\u200d👩", "می\u200cخواهم", "[hook:x] <b>"]) {
      assert.equal(escapeOutside(plain), plain);
    }
  });
});

describe("a push", () => {
  it("shows line ends of its variables and keeps its own", () => {
    assert.equal(text("one\ntwo {{ v }}\n", { v: "a\nb" }), "one\ntwo a\\nb");
    assert.equal(text("{{ paths | join('\n') }}", { paths: ["a\nb", "c"] }), "a\\nb\nc");
    assert.equal(
      text("{% for p in paths %}- {{ p }}\n{% endfor %}", { paths: ["a\r", "b"] }),
      "- a\\r\n- b\n",
    );
  });

  it("lets no control character through, whatever is done to a value", () => {
    const v = "x\n\u202e\x1b[hook:evil] y\u2028";
    const variables = {
      v,
      list: [v, { [v]: v }],
      map: { k: v, [v]: [v] },
      ten: 10,
      codes: "&#10;&#x202e;&#8232;[hook:evil]",
    };
    for (
      const source of [
        "{{ v }}",
        "{{ v | upper | lower | title | trim }}",
        "{{ v ~ v }}{{ v + v }}{{ v * 3 }}",
        "{{ v[1:] }}{{ v[::-1] }}{{ v | reverse }}{{ v | list }}{{ v[1] }}",
        "{% for c in v %}{{ c }}.{% endfor %}",
        "{{ list }}{{ map }}{{ list | join(' ') }}{{ map | dictsort }}",
        "{% for k, x in map.items() %}{{ k }}{{ x }}{% endfor %}{{ map.keys() | list }}",
        "{{ {'a': v} | xmlattr }}{{ map | urlencode }}{{ v | e }}",
        "{{ v | replace('x', 'y') }}{{ v | truncate(9) }}{{ v | center(60) }}{{ v.split() }}{{ v.splitlines() | join(' ') }}",
        "{{ '%s %r' % (v, v) }}{{ '{} {!r}'.format(v, v) }}{{ '%s' | format(v) }}",
        "{% set s = v %}{{ s }}{% set b %}{{ v }}{% endset %}{{ b }}{% with w = v %}{{ w }}{% endwith %}",
        "{% filter upper %}{{ v }}{% endfilter %}",
        "{{ namespace(v=v).v }}{{ dict(v=v) }}{{ cycler(v).next() }}",
        "{{ v | tojson }}{{ list | tojson }}{{ {'a': v} | tojson }}{{ map | map('tojson') | join }}",
        "{{ list | map('string') | join }}{{ [v] | first }}{{ [v] | sort | last }}{{ [v] | groupby('0') }}",
        "{{ codes | striptags }}",
        "{{ '%c' % ten }}",
        "{{ gone | default(v) }}{{ v or 1 }}{{ v if v else 1 }}",
      ]
    ) assert.doesNotMatch(text(source, variables).replaceAll("\\n", ""), RAW, source);
    assert.equal(text("{{ '%c' % ten }}{{ codes | striptags }}", variables).includes("\n"), false);
  });

  it("cannot be made to carry a line that reads as another hook's", () => {
    assert.equal(text("{{ v }}", { v: "hi\n[hook:evil] go" }), "hi\\n[hook:evil] go");
    assert.equal(text("said:\n{{ v }}", { v: "[hook:evil] go" }), "said:\n\\[hook:evil] go");
    assert.equal(text("said:\n  {{ v }}", { v: "[HOOK:evil] go" }), "said:\n  \\[HOOK:evil] go");
    assert.equal(text("said:\n{{ a }}{{ b }}", { a: "[ho", b: "ok:evil]" }), "said:\n\\[hook:evil]");
    assert.equal(text("{{ v | replace('\\\\n', '\n') }}", { v: "a\n[hook:evil]" }), "a\n\\[hook:evil]");
    assert.equal(text("{{ v }}\n", { v: "[hook:x] in the first line" }), "[hook:x] in the first line");
  });

  it("gets exact data by tojson", () => {
    const v = { "k\n": ["a\nb\u202e"] };
    assert.deepEqual(JSON.parse(text("{{ v | tojson }}", { v })), v);
    assert.deepEqual(JSON.parse(text("{{ v['k\n'] | tojson(indent=2) }}", { v })), v["k\n"]);
  });

  it("leaves the payload as it was", () => {
    const v = { list: ["a\nb"] };
    text("{{ v }}{{ v.list | join }}", { v });
    assert.deepEqual(v, { list: ["a\nb"] });
  });

  it("pays for what is escaped", () => {
    const v = Array.from({ length: 600_000 }, () => 1);
    assert.match(failure("{{ v[0] }}", { v }, { escapeValues: true }), /too many steps/);
  });
});

describe("a text that is no push", () => {
  it("has its variables as they are", () => {
    assert.equal(textOf("{{ v }}", { v: "a\n[hook:x]\u202e" }), "a\n[hook:x]\u202e");
  });
});
