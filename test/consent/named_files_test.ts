import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { namedFiles } from "../../src/consent/named_files.ts";
import { compileGlob } from "../../src/match/mod.ts";

describe("namedFiles()", () => {
  let cwd = "";
  before(() => {
    cwd = mkdtempSync(path.join(tmpdir(), "reyn-named-"));
    const files = [
      "a.py",
      "b.py",
      ".hidden.py",
      "c.txt",
      "lib/one.py",
      "lib/deep/two.py",
      "lib/deep/x[1].py",
      "other/three.py",
      ".reyn/state/reyn.db",
    ];
    for (const file of files) {
      mkdirSync(path.join(cwd, path.dirname(file)), { recursive: true });
      writeFileSync(path.join(cwd, file), file);
    }
    symlinkSync("..", path.join(cwd, "lib/up"));
    symlinkSync("../other", path.join(cwd, "lib/linked"));
    symlinkSync("../a.py", path.join(cwd, "other/link.py"));
    symlinkSync("nowhere", path.join(cwd, "other/dangling.py"));
  });
  after(() => rmSync(cwd, { recursive: true }));

  const named = async (pattern: string, maxFiles?: number) => {
    const found = await namedFiles(pattern, { cwd, compileGlob, ...(maxFiles ? { maxFiles } : {}) });
    return found.ok ? found.files.map((file) => path.relative(cwd, file)) : found.reason;
  };

  const rows: [string, string[]][] = [
    ["a.py", ["a.py"]],
    ["./lib/one.py", ["lib/one.py"]],
    ["none.py", []],
    ["none/*.py", []],
    ["a.py/x", []],
    ["*.py", [".hidden.py", "a.py", "b.py"]],
    ["[!a].py", ["b.py"]],
    ["?.txt", ["c.txt"]],
    ["*", [".hidden.py", "a.py", "b.py", "c.txt"]],
    ["lib/*.py", ["lib/one.py"]],
    ["other/*", ["other/link.py", "other/three.py"]],
    ["*/three.py", ["other/three.py"]],
    ["lib/*/three.py", ["lib/linked/three.py"]],
    ["lib/deep", ["lib/deep/two.py", "lib/deep/x[1].py"]],
    ["lib/deep/", ["lib/deep/two.py", "lib/deep/x[1].py"]],
    ["lib/deep/**", ["lib/deep/two.py", "lib/deep/x[1].py"]],
    ["lib/deep/x[[]1].py", ["lib/deep/x[1].py"]],
    ["**/two.py", ["lib/deep/two.py"]],
    ["**/*.txt", ["c.txt"]],
    [".reyn/**", [".reyn/state/reyn.db"]],
  ];
  for (const [pattern, files] of rows) {
    it(`finds ${files.join(", ") || "nothing"} for ${pattern}`, async () => {
      assert.deepEqual(await named(pattern), files);
    });
  }

  it("goes through everything once for **, links that lead round included, but never through reyn's own folder", async () => {
    const found = await named("**");
    assert.ok(Array.isArray(found));
    const plain = found.filter((file) => !file.startsWith("lib/up/") && !file.startsWith("lib/linked/"));
    for (const file of ["a.py", "lib/one.py", "lib/deep/two.py"]) assert.ok(plain.includes(file), file);
    assert.ok(found.some((file) => file.endsWith("three.py")));
    assert.deepEqual(found.filter((file) => file.includes(".reyn")), []);
    assert.ok(found.length < 15, found.join(" "));
  });

  it("takes an absolute pattern from the root", async () => {
    assert.deepEqual(await named(`${cwd}/lib/*.py`), ["lib/one.py"]);
  });

  it("refuses a pattern that names too much", async () => {
    assert.equal(await named("**", 3), "names more than 3 files");
    assert.match(String(await named("/**")), /^names (?:more than|\/)/);
  });
});
