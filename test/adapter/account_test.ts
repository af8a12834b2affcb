import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import process from "node:process";
import { describe, it } from "node:test";
import { account } from "../../src/adapter/account.ts";

describe("account()", () => {
  it("is the system's record of this account, whatever HOME says", () => {
    const line = readFileSync("/etc/passwd", "utf8").split("\n")
      .find((one) => Number(one.split(":")[2]) === process.geteuid?.());
    const before = process.env["HOME"];
    try {
      for (const home of ["", ".", "/tmp"]) {
        process.env["HOME"] = home;
        assert.equal(account().home, line?.split(":")[5]);
      }
    } finally {
      if (before === undefined) delete process.env["HOME"];
      else process.env["HOME"] = before;
    }
  });
});
