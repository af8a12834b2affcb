import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ReynError } from "../../src/errors/reyn_error.ts";
import { ANY_EMIT } from "../../src/runtime/serve_section.ts";
import { readTokens } from "../../src/server/tokens.ts";

const ENV = { A: "aaaaaaaaaaaaaaaa", B: " bbbbbbbbbbbbbbbbbb\n", SHORT: "short" };

describe("tokens", () => {
  const tokens = readTokens([
    { name: "a", env: "A", scopes: ["observe", "emit:http:a:ci."] },
    { name: "b", env: "B", scopes: ["send"] },
  ], ENV);

  it("know a caller by the whole token alone", () => {
    assert.equal(tokens.callerOf("Bearer aaaaaaaaaaaaaaaa")?.name, "a");
    assert.equal(tokens.callerOf("bearer bbbbbbbbbbbbbbbbbb")?.name, "b");
    for (
      const header of [
        undefined,
        "",
        "Bearer",
        "Bearer ",
        "Bearer aaaaaaaaaaaaaaa",
        "Bearer aaaaaaaaaaaaaaaaa",
        "Basic aaaaaaaaaaaaaaaa",
        "aaaaaaaaaaaaaaaa",
        "Bearer aaaaaaaaaaaaaaaa extra",
        `Bearer ${"a".repeat(5000)}`,
      ]
    ) assert.equal(tokens.callerOf(header), undefined, String(header));
  });

  it("grant what they name, and of events those that begin with the prefix", () => {
    const caller = tokens.callerOf("Bearer aaaaaaaaaaaaaaaa");
    assert.equal(caller?.may("observe"), true);
    assert.equal(caller?.may("send"), false);
    assert.equal(caller?.may("admin"), false);
    assert.equal(caller?.may("emit:http:a:ci."), true);
    assert.equal(caller?.may("emit:http:a:ci.done"), true);
    assert.equal(caller?.may("emit:http:a:c"), false);
    assert.equal(caller?.may("emit:http:a:cd.done"), false);
    assert.equal(caller?.may(ANY_EMIT), true);
    assert.equal(tokens.callerOf("Bearer bbbbbbbbbbbbbbbbbb")?.may(ANY_EMIT), false);
  });

  it("are refused when missing, short or there twice, without being told", () => {
    const refused = (env: string, other = "B") => {
      const error = assertThrows(() =>
        readTokens([{ name: "x", env, scopes: ["send"] }, { name: "y", env: other, scopes: ["send"] }], ENV)
      );
      assert.equal(error.code, "E_SERVER_TOKENS");
      for (const value of Object.values(ENV)) {
        assert.doesNotMatch(error.message, new RegExp(`\\b${value.trim()}\\b`));
      }
    };
    refused("NONE");
    refused("A", "A");
    refused("B", "SHORT");
  });
});

function assertThrows(run: () => unknown): ReynError {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof ReynError);
    return error;
  }
  throw new Error("nothing was thrown");
}
