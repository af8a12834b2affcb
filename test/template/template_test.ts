import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { renderBool } from "../../src/template/mod.ts";
import { compiled, failure, problem, text } from "./helpers.ts";

const known = ["point", "agent_name", "user_text"];

describe("a template", () => {
  it("tells which variables it looks up, each once, and not those it makes itself", () => {
    const source =
      "{{ a }}{{ a.b }}{% set c = d %}{{ c }}{% for e in f %}{{ e }}{{ loop.index }}{% endfor %}";
    assert.deepEqual(compiled(source).variables, ["a", "d", "f"]);
  });

  it("is static if nothing in it depends on anything", () => {
    assert.equal(compiled("plain text").isStatic, true);
    assert.equal(compiled("").isStatic, true);
    assert.equal(compiled("a {# note #}{% raw %}{{ b }}{% endraw %}").isStatic, true);
    assert.equal(compiled("{% if 1 %}a{% endif %}").isStatic, false);
    assert.equal(compiled("{{ a }}").isStatic, false);
  });

  it("can be rendered again and again, each time from the start", () => {
    const template = compiled(
      "{% set ns = namespace(n=0) %}{% for x in xs %}{% set ns.n = ns.n + x %}{% endfor %}{{ ns.n }}",
    );
    assert.deepEqual([[1, 2], [5]].map((xs) => template.render({ xs })), [{ ok: true, text: "3" }, {
      ok: true,
      text: "5",
    }]);
  });

  it("names the undefined variable when strict and shows nothing when lenient", () => {
    assert.match(failure("{{ gone }}"), /'gone' is undefined/);
    assert.match(failure("{{ user.gone }}", { user: {} }), /no attribute 'gone'/);
    assert.equal(text("[{{ gone }}]", {}, { strict: false }), "[]");
    assert.match(failure("{{ gone.attr }}", {}, { strict: false }), /'gone' is undefined/);
  });

  it("takes null for a value and undefined for none", () => {
    assert.equal(text("{{ a }}", { a: null }), "None");
    assert.match(failure("{{ a }}", { a: undefined }), /'a' is undefined/);
  });
});

describe("the variables of a builtin point", () => {
  it("are all that a template may name", () => {
    const { name, suggestion, line, column, offset, message } = problem("ok\n  {{ agnet_name }}", { known });
    assert.deepEqual({ name, suggestion, line, column, offset }, {
      name: "agnet_name",
      suggestion: "agent_name",
      line: 2,
      column: 6,
      offset: 8,
    });
    assert.match(message, /unknown variable "agnet_name".*did you mean "agent_name"/);
  });

  it("are checked in lenient templates and in branches too", () => {
    assert.equal(problem("{{ gone }}", { known, strict: false }).name, "gone");
    assert.equal(
      problem("{% if point %}{% for x in [gone] %}{{ x }}{% endfor %}{% endif %}", { known }).name,
      "gone",
    );
    assert.equal(problem("{{ gone.x | default('d') }}", { known }).name, "gone");
    assert.equal(problem("{{ gone | default('d') }}{{ gone }}", { known }).name, "gone");
    assert.equal(problem("{% for x in [1] %}{% endfor %}{{ x }}", { known }).name, "x");
  });

  it("may be missing where that is provided for", () => {
    for (
      const source of [
        "{{ gone | default('d') }}",
        "{{ gone | d }}",
        "{% if gone is defined %}{{ gone.x }}{% endif %}",
        "{{ 'a' if gone is undefined else gone }}",
        "{% set mine = 1 %}{{ mine }}",
        "{% for x in [1] %}{{ x }}{{ loop.index }}{% endfor %}",
        "{% with w = 1 %}{{ w }}{% endwith %}",
        "{{ range(3) | list }}{{ dict(a=1) }}",
      ]
    ) compiled(source, { known });
  });

  it("do not matter where they are not given", () => {
    assert.deepEqual(compiled("{{ anything }}").variables, ["anything"]);
  });
});

describe("a template that does not compile", () => {
  const cases: [source: string, column: number, message: RegExp][] = [
    ["{{ name | uper }}", 11, /unknown filter "uper".*"upper"/],
    ["{{ name is defind }}", 12, /unknown test "defind".*"defined"/],
    ["{{ name.uppr() }}", 9, /unknown method "uppr".*"upper"/],
    ["{{ rnge(3) }}", 4, /unknown function "rnge".*"range"/],
    ["{{ xs | map('uper') | list }}", 9, /unknown filter "uper"/],
    ["{{ xs | selectattr('a', 'equal', 1) | list }}", 9, /unknown test "equal"/],
    ["{% fro x in xs %}", 4, /unknown tag "fro".*"for"/],
    ["{% include 'x' %}", 4, /`{% include %}` is not available/],
    ["{% macro m() %}{% endmacro %}", 4, /not available/],
    ["{{ name | center(size=3) }}", 11, /no parameter "size"/],
    ["{{ name | replace('a') }}", 11, /wants "new"/],
    ["{{ name | upper(1) }}", 11, /0 arguments at most/],
    ["{{ items | random }}", 12, /random.*not available/],
    ["{{ a b }}", 6, /unexpected `b`/],
    ["{{ [1 2] }}", 7, /unexpected `2`/],
    ["{{ (1 }}", 7, /unexpected `}`/],
    ["{{ 1 + }}", 8, /unexpected end of the tag/],
    ["{{ }}", 4, /a value is missing/],
    ["{{ 'abc }}", 4, /string is not closed/],
    ["{{ name", 1, /`{{` is not closed/],
    ["{% if a %}", 4, /`{% if %}` is not closed/],
    ["{% for x in y %}{% endif %}", 20, /closes nothing; `{% endfor %}` is due/],
    ["{% else %}", 4, /does not belong here/],
    ["{{ if }}", 4, /unexpected `if`/],
    ["{{ payload() }}", 4, /unknown function/],
    ["{{ f(1)(2) }}", 4, /only functions and methods/],
    ["{{ 99999999999999999999 }}", 4, /too large/],
    ["{{ a $ b }}", 6, /unexpected "\$"/],
  ];
  for (const [source, column, message] of cases) {
    it(`says what is wrong and where in ${source}`, () => {
      const found = problem(source);
      assert.match(found.message, message);
      assert.deepEqual([found.line, found.column], [1, column]);
    });
  }

  it("counts lines of every kind", () => {
    assert.deepEqual([problem("a\r\nb\rc\n{{ x y }}").line, problem("a\r\nb\rc\n{{ x y }}").column], [4, 6]);
  });

  it("may be larger than 8 KiB in bytes while it is not in characters", () => {
    assert.equal(compiled("é".repeat(4096)).isStatic, true);
    assert.match(problem("é".repeat(4097)).message, /8 KiB/);
    assert.match(problem("a".repeat(8193)).message, /8 KiB/);
  });
});

describe("a template for yes or no", () => {
  const bool = (value: unknown) => renderBool(compiled("{{ v }}"), { v: value });

  it("is true for true, 1, yes, on and false for false, 0, no, off and nothing", () => {
    for (const word of ["true", "1", "yes", "on", " YES \n", true, 1]) {
      assert.deepEqual(bool(word), { ok: true, value: true });
    }
    for (const word of ["false", "0", "no", "off", "", "  ", "Off", false, 0]) {
      assert.deepEqual(bool(word), { ok: true, value: false });
    }
  });

  it("is neither for anything else", () => {
    for (const word of ["maybe", "2", "truee", null]) assert.equal(bool(word).ok, false);
    const result = bool("maybe");
    assert.deepEqual(result, {
      ok: false,
      error: "renders to neither true nor false",
      rendered: "maybe",
    });
  });

  it("fails where rendering fails", () => {
    assert.deepEqual(renderBool(compiled("{{ gone }}"), {}), { ok: false, error: "'gone' is undefined" });
    assert.deepEqual(renderBool(compiled("{{ gone }}", { strict: false }), {}), { ok: true, value: false });
  });
});
