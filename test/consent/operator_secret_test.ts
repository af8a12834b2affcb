import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, beforeEach, describe, it } from "node:test";
import { operatorStamp } from "../../src/consent/operator_secret.ts";

describe("a stamp with the operator's secret", () => {
  let root = "";
  let file = "";
  let count = 0;
  before(() => {
    root = mkdtempSync(path.join(tmpdir(), "reyn-secret-"));
  });
  after(() => rmSync(root, { recursive: true }));
  beforeEach(() => {
    file = path.join(root, String(++count), ".reyn/question-key");
  });

  it("is the same for every process that has the file, and another for another text and another home", () => {
    const stamp = operatorStamp(file);
    assert.match(stamp("a"), /^[0-9a-f]{64}$/);
    assert.equal(operatorStamp(file)("a"), stamp("a"));
    assert.notEqual(stamp("b"), stamp("a"));
    assert.notEqual(operatorStamp(path.join(root, "other/key"))("a"), stamp("a"));
    assert.equal(statSync(file).mode & 0o7777, 0o600);
  });

  it("is not known again when others could have read or written the secret, or it is not one", () => {
    const first = operatorStamp(file)("a");
    for (const mode of [0o644, 0o606, 0o660]) {
      chmodSync(file, mode);
      assert.notEqual(operatorStamp(file)("a"), first, mode.toString(8));
    }
    chmodSync(file, 0o600);
    assert.equal(operatorStamp(file)("a"), first);
    const secret = readFileSync(file, "utf8");
    for (const text of ["", secret.slice(2), `${secret}00`, "g".repeat(64)]) {
      writeFileSync(file, text);
      assert.notEqual(operatorStamp(file)("a"), operatorStamp(file)("a"), JSON.stringify(text));
    }
    writeFileSync(path.join(root, "elsewhere"), secret, { mode: 0o600 });
    rmSync(file);
    symlinkSync(path.join(root, "elsewhere"), file);
    assert.notEqual(operatorStamp(file)("a"), first);
  });

  it("is one of this process where it cannot be kept", () => {
    writeFileSync(path.join(root, "a file"), "");
    const stamp = operatorStamp(path.join(root, "a file", "key"));
    assert.equal(stamp("a"), stamp("a"));
    assert.notEqual(operatorStamp(path.join(root, "a file", "key"))("a"), stamp("a"));
  });
});
