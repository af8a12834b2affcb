import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { DOC_TABLES, outdatedTables, pageOf, withTable } from "../../scripts/docs/tables.ts";
import { loadConfiguration } from "../../src/config/load_layers.ts";
import { parseDeclaration } from "../../src/decisions/read_declaration.ts";
import { formatFinding, isError } from "../../src/errors/finding.ts";
import { configSections } from "../../src/runtime/sections.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const pages = [
  "README.md",
  ...readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md")).map((name) => `docs/${name}`),
];

/** The ```yaml blocks of a page that show a whole reyn.yaml or a part of one. */
function examples(page: string): string[] {
  const text = readFileSync(join(root, page), "utf8");
  return [...text.matchAll(/```yaml\n(.*?)```/gs)].map((match) => match[1] ?? "");
}

/**
 * What `reyn check` finds when the operator's own file has this text; files that an example names exist. A list is a
 * script of the model. On the page of decision hooks it is a whole cli-config.yaml.
 */
function check(text: string, page = ""): string[] {
  if (page === "docs/decisions.md") {
    const read = parseDeclaration(text, { shown: "cli-config.yaml", folder: root, home: root });
    return read.ok ? [] : read.findings.map(formatFinding);
  }
  const folder = mkdtempSync(join(tmpdir(), "reyn-docs-"));
  try {
    const isScript = text.startsWith("- ");
    mkdirSync(join(folder, ".reyn"));
    writeFileSync(join(folder, "replies.yaml"), isScript ? text : "- say: hello\n");
    const config = isScript ? "model: { provider: scripted, script: replies.yaml }\n" : text;
    writeFileSync(join(folder, ".reyn", "config.yaml"), config);
    const loaded = loadConfiguration({
      controlDir: folder,
      home: folder,
      env: {},
      agent: "default",
      session: "main",
      sections: configSections({ agent: "default", sid: "main" }).all,
    });
    return loaded.findings.filter(isError).map(formatFinding);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe("the manual", () => {
  for (const page of pages) {
    examples(page).forEach((example, index) => {
      it(`${page}: yaml example ${index + 1} passes \`reyn check\``, () => {
        assert.deepEqual(check(example, page), []);
      });
    });
  }

  it("has examples to check", () => {
    assert.ok(pages.flatMap(examples).length >= 3);
  });

  it("would show an example that is wrong", () => {
    assert.equal(check("hooks: [{ onn: turn_end }]").length > 0, true);
  });

  it("holds every row of every table that it takes from the source", () => {
    assert.deepEqual(outdatedTables().map((table) => `${table.file} ${table.mark}`), []);
  });

  it("would show a table that lacks a row", () => {
    const [table] = DOC_TABLES;
    assert.ok(table);
    assert.notEqual(withTable(pageOf(table).text, { ...table, text: () => "nothing" }), pageOf(table).text);
  });
});
