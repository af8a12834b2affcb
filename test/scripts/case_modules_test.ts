import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { caseModules } from "../../scripts/case_modules.ts";

describe("the modules of cases", () => {
  it("are what their text forms say", async () => {
    assert.deepEqual(await caseModules({ write: false }), []);
  });
});
