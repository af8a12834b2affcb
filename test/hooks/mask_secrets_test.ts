import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { maskSecrets } from "../../src/hooks/mask_secrets.ts";

const masked = (...argv: string[]) => maskSecrets(argv).join(" ");

describe("maskSecrets()", () => {
  it("masks the value of an option that says it is a secret, behind = or in the next word", () => {
    assert.equal(masked("curl", "--token=abc", "-v"), "curl --token=*** -v");
    assert.equal(masked("x", "--api-key", "abc", "--verbose"), "x --api-key *** --verbose");
    assert.equal(masked("x", "--password", "--other"), "x --password --other");
  });

  it("masks assignments with such a name", () => {
    assert.equal(masked("env", "DB_PASSWORD=hunter2", "PATH=/bin"), "env DB_PASSWORD=*** PATH=/bin");
  });

  it("masks what is a secret by its form", () => {
    assert.equal(masked("x", "ghp_abcdefghijklmnopqrstuvwx"), "x ***");
    assert.equal(masked("x", "Authorization: Bearer abc.def"), "x Authorization: Bearer ***");
    assert.equal(masked("x", "postgres://me:hunter2@db/x"), "x postgres://me:***@db/x");
    assert.equal(masked("x", "AKIAABCDEFGHIJKLMNOP"), "x ***");
  });

  it("leaves everything else as it is", () => {
    const argv = ["git", "log", "--format=%H", "-n", "3", "a=b", "token.txt", ""];
    assert.deepEqual(maskSecrets(argv), argv);
  });

  it("comes to an end with words of any length", () => {
    for (const part of ["x", "token", "a://b:", "Bearer ", "sk- ", "a."]) {
      assert.equal(maskSecrets(["echo", `${part.repeat(1_000_000 / part.length)}!`]).length, 2);
    }
  });
});
