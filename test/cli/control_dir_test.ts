import assert from "node:assert/strict";
import { mkdtempSync, realpathSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, it } from "node:test";
import { controlDir } from "../../src/cli/control_dir.ts";

describe("the control folder", () => {
  it("is named by an absolute path, or from the working directory", () => {
    assert.equal(controlDir("/"), "/");
    assert.equal(controlDir("."), process.cwd());
    assert.throws(() => controlDir(""), { code: "E_USAGE" });
    assert.throws(() => controlDir("/nowhere/at/all"), { code: "E_USAGE", message: /there is no folder/ });
  });

  it("cannot be named from a working directory that was deleted, but still by an absolute path", () => {
    const before = process.cwd();
    const gone = mkdtempSync(join(realpathSync(tmpdir()), "reyn-gone-"));
    process.chdir(gone);
    try {
      rmdirSync(gone);
      assert.throws(() => controlDir("."), {
        code: "E_USAGE",
        message: /working directory does not exist any more/,
        fix: /change into a folder that exists/,
      });
      assert.equal(controlDir("/"), "/");
    } finally {
      process.chdir(before);
    }
  });
});
