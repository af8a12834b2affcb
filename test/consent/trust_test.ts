import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, beforeEach, describe, it } from "node:test";
import type { TrustClaim } from "../../src/config/trust_claim.ts";
import { virtualClock } from "../../src/clock/virtual_clock.ts";
import { projectTrust } from "../../src/consent/trust.ts";
import { openTrustFile } from "../../src/consent/trust_file.ts";
import { valueHash } from "../../src/consent/trust_record.ts";
import { NOON } from "./support.ts";

function claim(key: string, value: unknown, argvs: readonly string[][] = []): TrustClaim {
  return {
    file: "reyn.yaml",
    key,
    value,
    argvs,
    reasons: [],
    operatorOnly: false,
    place: () => ({ file: "reyn.yaml", line: 1, column: 1 }),
  };
}

describe("trust in a control folder", () => {
  let root = "";
  let folder = "";
  let count = 0;
  before(() => {
    root = realpathSync(mkdtempSync(path.join(tmpdir(), "reyn-trust-")));
  });
  after(() => rmSync(root, { recursive: true }));
  beforeEach(() => {
    folder = path.join(root, String(++count));
    mkdirSync(path.join(folder, "bin"), { recursive: true });
  });

  const write = (name: string, text: string) => {
    writeFileSync(path.join(folder, name), text);
    chmodSync(path.join(folder, name), 0o755);
  };
  const open = (options: { folder?: string; searchPath?: string } = {}) => {
    const file = openTrustFile({ path: path.join(folder, "home/trust.json"), clock: virtualClock(NOON) });
    return { file, trust: projectTrust(file, { folder, searchPath: "/usr/bin:/bin", ...options }) };
  };
  const trustAll = async (...claims: TrustClaim[]) => {
    const { file, trust } = open();
    const keys = claims.map((one) => {
      const bound = trust.bind(one);
      assert.ok(bound.ok, JSON.stringify(bound));
      return bound.key;
    });
    await file.store({ folder, trustedAt: new Date(NOON).toISOString(), keys });
  };
  const judged = (one: TrustClaim, options = {}) => open(options).trust.judge(one);
  const changed = (...what: string[]) => ({ state: "changed", since: "2026-11-30", what });

  it("is for the values that were recorded, each by its place and its content", async () => {
    await trustAll(claim("model.hook_role", "system"), claim("safety.loop", { a: 1, b: [1, 2] }));
    assert.deepEqual(judged(claim("model.hook_role", "system")), { state: "trusted" });
    assert.deepEqual(judged(claim("safety.loop", { b: [1, 2], a: 1 })), { state: "trusted" });
    assert.deepEqual(judged(claim("safety.loop", { a: 1, b: [2, 1] })), changed("its value changed"));
    assert.deepEqual(judged(claim("agents.a.model.hook_role", "system")), { state: "new" });
    assert.deepEqual(judged({ ...claim("model.hook_role", "system"), file: "reyn.local.yaml" }), {
      state: "new",
    });
    assert.deepEqual(judged(claim("model.hook_role", "system"), { folder: root }), { state: "new" });
  });

  it("is bound to the content of the code that an argv names, wherever it stands in it", async () => {
    write("bin/agent", "#!/bin/sh\n");
    write("lib.py", "1");
    const one = claim("model.command", ["bin/agent", "lib.py", "--fast"], [[
      "bin/agent",
      "lib.py",
      "--fast",
    ]]);
    await trustAll(one);
    assert.deepEqual(judged(one), { state: "trusted" });
    write("lib.py", "2");
    assert.deepEqual(judged(one), changed(`content of "${folder}/lib.py" changed`));
    write("lib.py", "1");
    assert.deepEqual(judged(one), { state: "trusted" });
    rmSync(path.join(folder, "bin/agent"));
    assert.deepEqual(judged(one), changed(`file "${folder}/bin/agent" is gone`));
    write("bin/agent", "#!/bin/sh\n");
    write("--fast", "code");
    assert.deepEqual(judged(one), changed(`file "${folder}/--fast" is new`));
  });

  it("ends when another program of the same name comes first in PATH", async () => {
    const one = claim("model.command", ["true"], [["true"]]);
    await trustAll(one);
    assert.deepEqual(judged(one), { state: "trusted" });
    write("bin/true", "#!/bin/sh\n");
    const found = judged(one, { searchPath: `${folder}/bin:/usr/bin:/bin` });
    assert.deepEqual(found, changed(`file "${folder}/bin/true" is new`));
  });

  it("ends when a link to the system's own leads elsewhere", async () => {
    symlinkSync("/usr/bin/env", path.join(folder, "bin/agent"));
    const one = claim("model.command", ["bin/agent"], [["bin/agent"]]);
    await trustAll(one);
    assert.deepEqual(judged(one), { state: "trusted" });
    rmSync(path.join(folder, "bin/agent"));
    write("bin/agent", "#!/bin/sh\n");
    assert.deepEqual(judged(one), changed(`what "${folder}/bin/agent" leads to changed`));
  });

  it("cannot be bound to a file that cannot be read whole", () => {
    writeFileSync(path.join(folder, "huge"), "");
    const { trust } = open();
    assert.equal(trust.bind(claim("c", ["huge"], [["huge"]])).ok, true);
    assert.equal(trust.bind(claim("c", ["/proc/self/mem"], [["/proc/self/mem"]])).ok, false);
  });

  it("is looked at again while a process lives", async () => {
    write("bin/agent", "one");
    const argv = ["bin/agent"];
    const one = claim("model.command", argv, [argv]);
    await trustAll(one);
    const { trust } = open();
    assert.equal(await trust.recheck(argv, [one]), undefined);
    write("bin/agent", "two");
    assert.equal(await trust.recheck(argv, [one]), `content of "${folder}/bin/agent" changed`);
    // A command of the operator's own file needs no trust.
    assert.equal(await trust.recheck(["other"], [one]), undefined);
  });

  it("tells values apart that only look alike", () => {
    const values = [1, "1", true, "true", null, "null", [], {}, [[]], { a: 1 }, { a: "1" }, {
      map: [["a", 1]],
    }];
    assert.equal(new Set(values.map(valueHash)).size, values.length);
  });
});
