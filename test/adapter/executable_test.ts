import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { findExecutable } from "../../src/adapter/executable.ts";

describe("finding an executable", () => {
  let folder = "";
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), "reyn-executable-"));
    mkdirSync(path.join(folder, "bin/folder"), { recursive: true });
    writeFileSync(path.join(folder, "bin/agent"), "#!/bin/sh\n");
    chmodSync(path.join(folder, "bin/agent"), 0o755);
    writeFileSync(path.join(folder, "bin/plain"), "text\n");
    chmodSync(path.join(folder, "bin/plain"), 0o644);
  });
  after(() => rmSync(folder, { recursive: true }));

  it("takes a name with a slash as relative to the folder, not to PATH", () => {
    assert.deepEqual(findExecutable("bin/agent", folder, undefined), {
      ok: true,
      file: path.join(folder, "bin/agent"),
    });
    assert.deepEqual(findExecutable("./agent", folder, path.join(folder, "bin")), {
      ok: false,
      reason: "there is no such file",
    });
  });

  it("looks a bare name up in PATH, in order", () => {
    const found = findExecutable("agent", "/", `/nowhere:${folder}/bin`);
    assert.deepEqual(found, { ok: true, file: path.join(folder, "bin/agent") });
  });

  it("never takes a bare name from the folder itself, nor from a relative entry of PATH", () => {
    assert.deepEqual(findExecutable("agent", path.join(folder, "bin"), ":.:bin"), {
      ok: false,
      reason: "it is not in PATH",
    });
  });

  it("says what stands in the way", () => {
    assert.deepEqual(findExecutable("bin/plain/x", folder, ""), {
      ok: false,
      reason: "there is no such file",
    });
    assert.deepEqual(findExecutable("bin/folder", folder, ""), {
      ok: false,
      reason: "it is not a regular file",
    });
    assert.deepEqual(findExecutable("a\0b", folder, ""), { ok: false, reason: "it is not a file name" });
    assert.deepEqual(findExecutable("bin/plain", folder, ""), { ok: false, reason: "it is not executable" });
    assert.deepEqual(findExecutable("plain", folder, `${folder}/bin`), {
      ok: false,
      reason: `${folder}/bin/plain: it is not executable`,
    });
  });
});
