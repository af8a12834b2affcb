import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { childEnv } from "../../src/adapter/child_env.ts";

describe("the environment of a child", () => {
  it("keeps what does not inject code", () => {
    assert.deepEqual(childEnv({ PATH: "/bin", HOME: "/root", NODE_ENV: "x", OLD_PATH: "y", BUNDLE: "z" }), {
      PATH: "/bin",
      HOME: "/root",
      NODE_ENV: "x",
      OLD_PATH: "y",
      BUNDLE: "z",
    });
  });

  it("leaves out BUN_*, NODE_OPTIONS, LD_* and DYLD_*", () => {
    const names = [
      "BUN_BE_BUN",
      "BUN_OPTIONS",
      "BUN_INSTALL",
      "NODE_OPTIONS",
      "LD_PRELOAD",
      "LD_LIBRARY_PATH",
      "LD_AUDIT",
      "DYLD_INSERT_LIBRARIES",
    ];
    assert.deepEqual(childEnv(Object.fromEntries(names.map((name) => [name, "1"]))), {});
  });

  it("leaves them out of what is added, too, and lets what is added win", () => {
    assert.deepEqual(childEnv({ A: "1", B: "1" }, { B: "2", LD_PRELOAD: "/x.so" }), { A: "1", B: "2" });
  });

  it("leaves out what is unset", () => {
    assert.deepEqual(childEnv({ A: undefined }), {});
  });
});
