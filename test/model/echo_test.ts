import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { echoModel } from "../../src/model/echo.ts";
import { answer, request } from "./helpers.ts";

describe("the echo model", () => {
  it("answers with the last message that is not its own", async () => {
    const asked = request([
      { role: "user", text: "first" },
      { role: "user", text: "[hook:x] second", hook: "x" },
      { role: "assistant", text: "third" },
    ]);
    assert.equal(await answer(echoModel(), asked), "echo: [hook:x] second");
  });

  it("throws the reason of an abort", async () => {
    await assert.rejects(answer(echoModel(), undefined, AbortSignal.abort(new Error("enough"))), /enough/);
  });
});
