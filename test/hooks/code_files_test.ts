import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, before, describe, it } from "node:test";
import { codeFiles, codeOfHooks } from "../../src/hooks/code_files.ts";

describe("codeFiles()", () => {
  let dir = "";
  before(() => {
    dir = mkdtempSync(join(tmpdir(), "reyn-code-"));
    mkdirSync(join(dir, "out"));
    writeFileSync(join(dir, "data.txt"), "plain");
    writeFileSync(join(dir, "script"), "#!/bin/sh\n");
    writeFileSync(join(dir, "tool"), "x");
    chmodSync(join(dir, "tool"), 0o755);
    writeFileSync(join(dir, "t.py"), "print(1)");
  });
  after(() => rmSync(dir, { recursive: true }));

  const code = (...argv: string[]) => codeFiles(argv, { controlDir: dir, homes: ["/nowhere"] });

  it("always holds the program", () => {
    assert.deepEqual(code("/usr/bin/touch", "out/new"), ["/usr/bin/touch"]);
  });

  it("holds what is executable, begins with #! or is called like a script", () => {
    assert.deepEqual(code("/bin/sh", "script", "tool", "t.py"), ["/bin/sh", "script", "tool", "t.py"]);
  });

  it("holds a script that is not there yet, so that nobody else makes it", () => {
    assert.deepEqual(code("/usr/bin/python3", "later.py"), ["/usr/bin/python3", "later.py"]);
  });

  it("leaves out what looks like a file and cannot be read", { skip: process.platform !== "linux" }, () => {
    assert.deepEqual(code("/bin/cat", "/proc/self/ns/uts", "/proc/self/mem"), ["/bin/cat"]);
  });

  it("leaves data and folders out", () => {
    assert.deepEqual(code("/usr/bin/tee", "data.txt", "out", "--append"), ["/usr/bin/tee"]);
  });

  it("holds what an interpreter is given to run, whatever it is called", () => {
    assert.deepEqual(code("/bin/sh", "data.txt", "out"), ["/bin/sh", "data.txt"]);
    assert.deepEqual(code("/bin/sh", "/dev/stdin", "/proc/self/status"), ["/bin/sh"]);
  });

  it("of all hooks is told as absolute paths, without programs of the system", () => {
    const of = (argv: string[], plugin: string | null = null) => ({
      argv,
      plugin: plugin === null ? null : { file: plugin },
    });
    const actions = [
      of(["sh", "script"]),
      of(["./tool", "data.txt"]),
      of(["p.wasm#run"], "p.wasm"),
      of([
        "tool",
      ]),
    ];
    assert.deepEqual(
      codeOfHooks(actions, { controlDir: dir, homes: ["/nowhere"] }),
      ["script", "tool", "p.wasm"].map((name) => join(dir, name)),
    );
  });
});
