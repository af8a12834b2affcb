import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { compileTemplate } from "../../src/template/mod.ts";

interface Table {
  variables: Record<string, unknown>;
  /** Text when strict and when lenient; null: Jinja2 raises an error. */
  rows: [source: string, strict: string | null, lenient: string | null][];
}

interface Difference {
  reason: string;
  templates: string[];
}

const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");
const table: Table = JSON.parse(read("../tables/jinja.json"));
const differences: Difference[] = JSON.parse(read("../tables/jinja_differences.json"));

function textOf(source: string, strict: boolean): string | null {
  const compiled = compileTemplate(source, { strict });
  if (!compiled.ok) return null;
  const rendered = compiled.template.render(table.variables);
  return rendered.ok ? rendered.text : null;
}

describe("the table made with Jinja2", () => {
  const differing = new Set(differences.flatMap(({ templates }) => templates));

  it("has rows enough", () => {
    assert.ok(table.rows.length >= 250);
  });

  it("is met in every row that is not a listed difference, strict and lenient", () => {
    const wrong = table.rows.filter(([source]) => !differing.has(source)).flatMap(
      ([source, strict, lenient]) => {
        const got = [textOf(source, true), textOf(source, false)];
        return got[0] === strict && got[1] === lenient ? [] : [{ source, wanted: [strict, lenient], got }];
      },
    );
    assert.deepEqual(wrong, []);
  });

  it("lists no difference that is none, and none that it does not have", () => {
    const rows = new Map(table.rows.map((row) => [row[0], row]));
    const idle = [...differing].filter((source) => {
      const row = rows.get(source);
      return !row || (textOf(source, true) === row[1] && textOf(source, false) === row[2]);
    });
    assert.deepEqual(idle, []);
  });

  it("has every difference explained to operators", () => {
    const docs = read("../../docs/templates.md").replace(/\s+/g, " ");
    assert.deepEqual(
      differences.filter(({ reason }) => !docs.includes(reason)).map(({ reason }) => reason),
      [],
    );
  });

  it("does not change the variables", () => {
    assert.deepEqual(table.variables, (JSON.parse(read("../tables/jinja.json")) as Table).variables);
  });
});
