import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { failure, problem, rendered, text } from "./helpers.ts";

const MIB = 1024 * 1024;
const long = "a".repeat(MIB);

describe("the budget of a rendering", () => {
  it("stops loops, empty ones too", () => {
    const loop = (body: string) => `{% for i in range(100000) %}${body}{% endfor %}`;
    assert.match(failure(loop(loop(""))), /too many steps/);
    assert.match(failure(loop("{% set x = 1 + 2 + 3 + 4 %}")), /too many steps/);
    assert.match(failure(loop("{% for j in [1, 2, 3] if j > 9 %}{% endfor %}")), /too many steps/);
    assert.equal(text(`${loop("")}done`), "done");
  });

  it("refuses ranges, counts and widths over 100000", () => {
    for (
      const source of [
        "{% for i in range(1000000000) %}{% endfor %}",
        "{{ 'a' | center(100001) }}",
        "{{ 'a' | indent(100001) }}",
        "{{ 'a'.ljust(1000000000) }}",
        "{{ 'a'.zfill(1000000000) }}",
        "{{ [1] | batch(1000000000, 0) }}",
        "{{ [1] | slice(1000000000) }}",
        "{{ 'a' | wordwrap(1000000000) }}",
        "{{ '%1000000000d' % 1 }}",
        "{{ '{:1000000000}'.format(1) }}",
        "{{ [1] | tojson(indent=1000000000) }}",
        "{{ '\t'.expandtabs(1000000000) }}",
      ]
    ) assert.match(failure(source), /100000|longer than/, source);
  });

  it("refuses precisions, powers and integers that are out of hand", () => {
    for (
      const source of [
        "{{ '%.1000f' % 1 }}",
        "{{ 1.5 | round(1000000) }}",
        "{{ 9 ** 9 ** 9 }}",
        "{{ 1.5 ** 99999999 }}",
        "{{ 2 ** 53 }}",
        "{{ '9' * 20 | int }}",
      ]
    ) assert.equal(rendered(source).ok, source.includes("| int"), source);
    assert.equal(text("{{ 2 ** 52 }}"), "4503599627370496");
  });

  it("refuses texts over 1 MiB before they are made", () => {
    for (
      const source of [
        "{{ 'a' * 1000000000 }}",
        "{{ 1000000000 * 'ab' }}",
        "{{ long ~ long }}",
        "{{ long + 'b' }}",
        "{{ long | replace('a', long) }}",
        "{{ [long, long] | join }}",
        "{{ [1, 2] | join(long) }}",
        "{{ [long, long] }}",
        "{{ [long, long] | tojson }}",
        "{{ ('{0:>100000}' * 100).format(1) }}",
        "{{ ('%99999s' * 20) % (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1) }}",
        "{% set n = namespace(s='a') %}{% for i in range(64) %}{% set n.s = n.s ~ n.s %}{% endfor %}{{ n.s }}",
      ]
    ) assert.match(failure(source, { long }), /too long/, source);
  });

  it("refuses lists of more than 100000 items", () => {
    assert.match(failure("{{ [1] * 1000000000 }}"), /too long/);
    assert.match(failure("{{ long | list }}", { long }), /too long/);
  });

  it("refuses output over 1 MiB of UTF-8", () => {
    assert.equal(text("{{ long }}", { long }).length, MIB);
    assert.match(failure("{{ long }}b", { long }), /1 MiB/);
    assert.match(failure("{{ t }}", { t: "é".repeat(MIB / 2 + 1) }), /1 MiB/);
    assert.equal(text("{{ t }}", { t: "é".repeat(MIB / 2) }).length, MIB / 2);
  });

  it("refuses values that hold themselves or lie too deep", () => {
    const ring: Record<string, unknown> = {};
    ring.ring = ring;
    let deep: unknown = 1;
    for (let depth = 0; depth < 5000; depth += 1) deep = [deep];
    for (const source of ["{{ v }}", "{{ v | tojson }}", "{{ v == [w] }}"]) {
      assert.equal(rendered(source, { v: deep, w: structuredClone(ring) }).ok, source.includes("=="), source);
    }
    for (const source of ["{{ v }}", "{{ v | tojson }}"]) {
      assert.match(failure(source, { v: ring }), /nested too deeply/);
    }
    assert.match(failure("{{ v }}", { v: ring }, { escapeValues: true }), /nested too deeply/);
  });

  it("refuses tuples in tuples as keys instead of spelling them out", () => {
    const source =
      "{% set n = namespace(t=()) %}{% for i in range(60) %}{% set n.t = (n.t, n.t) %}{% endfor %}{{ {n.t: 1} }}";
    assert.match(failure(source), /key is too long/);
  });

  it("ends within seconds whatever is done to long texts over and over", () => {
    const half = "a".repeat(MIB / 2) + "b";
    const list = Array.from({ length: 100_000 }, (_, index) => index);
    const same = list.slice();
    const map = Object.fromEntries(list.map((index) => [`k${index}`, index]));
    const marked = "&#10;".repeat(100_000);
    const variables = {
      long,
      other: `${long.slice(1)}a`,
      half,
      list,
      same,
      map,
      marked,
      dashes: "-".repeat(MIB),
    };
    const started = performance.now();
    for (
      const expression of [
        "long | upper",
        "long == other",
        "half in long",
        "list == same",
        "map | length",
        "marked | striptags",
        "dashes | wordwrap(9)",
        "{long: 1}",
      ]
    ) {
      rendered(`{% for i in range(100000) %}{% set x = ${expression} %}{% endfor %}`, variables, {
        escapeValues: true,
      });
    }
    assert.ok(performance.now() - started < 20_000);
  });
});

describe("the nesting of a source", () => {
  it("is bounded in brackets, blocks and operations", () => {
    for (
      const source of [
        `{{ ${"(".repeat(3000)}1${")".repeat(3000)} }}`,
        `{{ ${"[".repeat(3000)}`,
        `{{ ${"not ".repeat(1900)}1 }}`,
        `{{ ${"-".repeat(4000)}1 }}`,
        `{{ 1${"+1".repeat(3000)} }}`,
        `{{ 1${"*1".repeat(3000)} }}`,
        `{{ a${".a".repeat(3000)} }}`,
        `{{ 'a'${"|upper".repeat(1200)} }}`,
        `{{ 1${" if 1 else 2".repeat(600)} }}`,
        `${"{% if 1 %}".repeat(400)}${"{% endif %}".repeat(300)}`,
        `{% if 1 %}${"{% elif 1 %}".repeat(600)}{% endif %}`,
      ]
    ) assert.match(problem(source).message, /nested too deeply/, source.slice(0, 40));
  });

  it("leaves room for what people write", () => {
    assert.equal(text(`{{ ${"(".repeat(50)}1${")".repeat(50)} }}`), "1");
    assert.equal(text(`{{ 1${"+1".repeat(90)} }}`), "91");
    assert.equal(text(`${"{% if 1 %}".repeat(50)}x${"{% endif %}".repeat(50)}`), "x");
  });
});
