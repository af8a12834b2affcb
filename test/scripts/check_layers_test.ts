import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { checkLayers } from "../../scripts/layers/check.ts";
import { findCycles } from "../../scripts/layers/cycles.ts";
import { findImports } from "../../scripts/layers/imports.ts";

/** A small repository that breaks nothing. */
const SOUND: Record<string, string> = {
  "mod.ts": `export { run } from "./src/runtime/run.ts";\n`,
  "sdk.ts": `export type { Point } from "./src/points/points.ts";\n`,
  "src/main.ts": `const { go } = await import("./cli/go.ts");\nawait go();\n`,
  "src/cli/go.ts": `import { run } from "../runtime/run.ts";\nexport const go = () => run();\n`,
  "src/runtime/run.ts": `import { turn } from "../session/turn.ts";\nexport const run = () => turn();\n`,
  "src/session/turn.ts":
    `import type { Store } from "../store/store.ts";\nexport const turn = (s?: Store) => s;\n`,
  "src/store/store.ts":
    `import type { Point } from "../points/points.ts";\nexport type Store = { p: Point };\n`,
  "src/audit/audit.ts":
    `import { readFile } from "node:fs/promises";\nexport const audit = () => readFile("x");\n`,
  "src/points/points.ts": `export type Point = "a"; // Deno.exit() and import "../cli/go.ts" in a comment\n`,
  "src/adapter/exit.ts": `export const exit = () => Deno.exit(1);\n`,
  "test/store/store_test.ts": `import "../../src/store/store.ts";\n`,
  "test/cases/odd/files/Odd Name.ts": `Deno.exit(1);\n`,
};

let root = "";

/** What the check says about the sound repository with these files changed. */
async function findingsWith(changes: Record<string, string>): Promise<string[]> {
  const folder = await mkdtemp(join(root, "repo-"));
  for (const [path, text] of Object.entries({ ...SOUND, ...changes })) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  const { findings } = await checkLayers(folder);
  return findings.map(({ file, line, message }) => `${file}:${line} ${message}`);
}

async function assertCaught(changes: Record<string, string>, expected: RegExp): Promise<void> {
  const findings = await findingsWith(changes);
  assert.ok(
    findings.some((text) => expected.test(text)),
    `not caught: ${findings.join(" | ") || "no findings"}`,
  );
}

describe("the layer check", () => {
  before(async () => {
    root = await mkdtemp(join(tmpdir(), "layers-"));
  });
  after(() => rm(root, { recursive: true, force: true }));

  it("finds nothing in a sound repository, comments and cases included", async () => {
    assert.deepEqual(await findingsWith({}), []);
  });

  it("refuses an arrow that points up", async () => {
    await assertCaught(
      { "src/store/up.ts": `import { turn } from "../session/turn.ts";\nexport const up = turn;\n` },
      /^src\/store\/up.ts:1 imports src\/session\/turn.ts: arrows point down/,
    );
  });

  it("refuses a type import, a re-export, a dynamic and an inline type import that point up", async () => {
    for (
      const text of [
        `import type { go } from "../cli/go.ts";\n`,
        `export * from "../cli/go.ts";\n`,
        `export type { go } from "../cli/go.ts";\n`,
        `export const late = () => import("../cli/go.ts");\n`,
        "export const late = () => import(`../cli/go.ts`);\n",
        `export type Go = typeof import("../cli/go.ts");\n`,
        `import "../cli/go.ts";\n`,
        `import {\n  type go,\n  // a comment\n  go as from,\n} from "../cli/go.ts";\n`,
      ]
    ) {
      await assertCaught(
        { "src/match/up.ts": text },
        /^src\/match\/up.ts:\d imports src\/cli\/go.ts: arrows/,
      );
    }
  });

  it("refuses one service in another, and lets ground rooms import in their order only", async () => {
    await assertCaught(
      { "src/audit/a.ts": `import type { Store } from "../store/store.ts";\n` },
      /rooms of the row services do not import each other/,
    );
    await assertCaught({ "src/errors/e.ts": `import "../points/points.ts";\n` }, /within ground/);
    assert.deepEqual(
      await findingsWith({ "src/errors/e.ts": "", "src/points/p.ts": `import "../errors/e.ts";\n` }),
      [],
    );
  });

  it("refuses a room that stands in no row, and the test folder as a source", async () => {
    await assertCaught(
      { "src/helpers/h.ts": `import "../points/points.ts";\n` },
      /room helpers stands in no row/,
    );
    await assertCaught(
      { "src/store/t.ts": `import "../../test/store/store_test.ts";\n` },
      /is not part of the program/,
    );
  });

  it("lets the SDK import the points only", async () => {
    await assertCaught(
      { "sdk.ts": `import "./src/errors/e.ts";\n`, "src/errors/e.ts": "" },
      /sdk may import points/,
    );
  });

  it("refuses cycles between files of one room", async () => {
    await assertCaught(
      {
        "src/store/a.ts": `import "./b.ts";\n`,
        "src/store/b.ts": `import "./c.ts";\n`,
        "src/store/c.ts": `export type { A } from "./a.ts";\n`,
      },
      /files import each other: src\/store\/a.ts -> src\/store\/b.ts -> src\/store\/c.ts -> src\/store\/a.ts/,
    );
  });

  it("refuses cycles between rooms even when no two files form one", async () => {
    await assertCaught(
      { "src/cli/leaf.ts": "", "src/runtime/up.ts": `import "../cli/leaf.ts";\n` },
      /rooms import each other: cli -> runtime -> cli/,
    );
  });

  it("refuses the names of a runtime outside the adapter, in code only", async () => {
    await assertCaught(
      { "src/store/d.ts": `\nexport const pid = Deno.pid;\n` },
      /^src\/store\/d.ts:2 Deno is named/,
    );
    await assertCaught({ "src/store/d.ts": "export const p = `${Bun.main}`;\n" }, /Bun is named/);
    await assertCaught(
      { "src/store/d.ts": `import { Database } from "bun:sqlite";\n` },
      /imports bun:sqlite outside/,
    );
    assert.deepEqual(
      await findingsWith({
        "src/store/d.ts": "export const text = `Deno ${'Bun'} Bun`; /* Deno */ /Bun/.test('');\n",
      }),
      [],
    );
  });

  it("refuses blocking child processes, foreign registries and missing extensions", async () => {
    await assertCaught(
      { "src/audit/s.ts": `import { spawnSync } from "node:child_process";\n` },
      /spawnSync leaks/,
    );
    await assertCaught({ "src/audit/s.ts": `import "npm:zod";\n` }, /bare name/);
    await assertCaught({ "src/audit/s.ts": `import "./audit";\n` }, /extension is missing/);
  });

  it("refuses long files and names that are not snake_case, tests included", async () => {
    const lines = (count: number) => "export {};\n".repeat(count);
    await assertCaught(
      { "test/store/long_test.ts": lines(401) },
      /^test\/store\/long_test.ts:1 has 401 lines/,
    );
    assert.deepEqual(await findingsWith({ "src/store/long.ts": lines(400) }), []);
    await assertCaught({ "src/store/walLog.ts": "" }, /not snake_case/);
    await assertCaught({ "src/store/wal-log.ts": "" }, /not snake_case/);
  });
});

describe("the import scanner", () => {
  const specifiers = (source: string) => findImports(source).map((found) => found.specifier);

  it("is not led astray by comments, strings, templates and regular expressions", () => {
    const source = [
      `// import "a";`,
      `/* import "b"; */ const x = 'import "c"';`,
      'const y = `import "d" ${ (await import("e")).z + `${1}` } import \'f\'`;',
      `const r = /import "g"/.test(x) || 1 / 2 / 3; const s = x["import"]; o.import("h");`,
      `const q = /["'\`]/; import i from "i";`,
      `export const name = { import: "j", from: "k" }; export { name };`,
      `const after = "l";`,
    ].join("\n");
    assert.deepEqual(specifiers(source), ["e", "i"]);
  });

  it("reports the line and the kind", () => {
    assert.deepEqual(findImports(`\n\nexport {\n a,\n} from "./a.ts";\nrequire("b");`), [
      { specifier: "./a.ts", line: 5, kind: "re-export" },
      { specifier: "b", line: 6, kind: "require" },
    ]);
  });
});

describe("cycle finding", () => {
  it("finds each group once and leaves acyclic nodes alone", () => {
    const graph = new Map(
      Object.entries({ a: ["b"], b: ["a", "c"], c: ["d"], d: ["c"], e: ["a", "e"] })
        .map(([node, targets]) => [node, new Set(targets)] as const),
    );
    assert.deepEqual(findCycles(graph), [["a", "b"], ["c", "d"], ["e"]]);
  });
});
