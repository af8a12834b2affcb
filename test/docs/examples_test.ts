import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { DOC_TABLES, outdatedTables, pageOf, withTable } from "../../scripts/docs/tables.ts";
import { loadConfiguration } from "../../src/config/load_layers.ts";
import { parseDeclaration } from "../../src/decisions/read_declaration.ts";
import { formatFinding, isError } from "../../src/errors/finding.ts";
import { loadForSession } from "../../src/runtime/configuration.ts";
import { runTests } from "../../src/runtime/run_tests.ts";
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
  return inFolder(text, (folder) =>
    loadConfiguration({
      controlDir: folder,
      home: folder,
      env: {},
      agent: "default",
      session: "main",
      sections: configSections({ agent: "default", sid: "main" }).all,
    }).findings.filter(isError).map(formatFinding));
}

/** What goes wrong in the tests that the example declares, in a control folder of its own. */
function failures(text: string): string[] {
  return inFolder("", (home) =>
    inFolder("", (folder) => {
      writeFileSync(join(folder, "reyn.yaml"), text);
      const before = process.env["HOME"];
      process.env["HOME"] = home;
      try {
        const results = runTests(loadForSession({ controlDir: folder, agent: "default", sid: "main" }));
        if (results.length === 0) return ["there are no tests"];
        return results.flatMap(({ name, problems }) => problems.map(({ message }) => `${name}: ${message}`));
      } finally {
        if (before === undefined) delete process.env["HOME"];
        else process.env["HOME"] = before;
      }
    }));
}

function inFolder<Result>(text: string, look: (folder: string) => Result): Result {
  const folder = mkdtempSync(join(tmpdir(), "reyn-docs-"));
  try {
    const isScript = text.startsWith("- ");
    mkdirSync(join(folder, ".reyn"));
    writeFileSync(join(folder, "replies.yaml"), isScript ? text : "- say: hello\n");
    writeFileSync(join(folder, "reviewer.md"), "Be brief.\n");
    const config = isScript ? "model: { provider: scripted, script: replies.yaml }\n" : text;
    writeFileSync(join(folder, ".reyn", "config.yaml"), config);
    return look(folder);
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

  const tested = pages.flatMap((page) =>
    examples(page).map((example, index) => ({ page, example, index })).filter(({ example }) =>
      /^tests:/m.test(example)
    )
  );
  for (const { page, example, index } of tested) {
    it(`${page}: the tests in yaml example ${index + 1} pass`, () => {
      assert.deepEqual(failures(example), []);
    });
  }

  it("has tests in its examples, and would show one that fails", () => {
    assert.ok(tested.length >= 6);
    const first = tested.find(({ example }) => example.includes("composer: saved"));
    assert.ok(first);
    assert.match(
      failures(first.example.replace("composer: saved, at: 3500ms", "composer: saved, at: 7h")).join(),
      /expected it at 7h, but composer "saved" fired/,
    );
  });

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
