import assert from "node:assert/strict";
import { mkdirSync, symlinkSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { confine } from "../../../src/sandbox/macos/confine.ts";
import { decideSurely } from "../../../src/sandbox/macos/decide.ts";
import { readForms, rulesOf } from "../../../src/sandbox/macos/reader.ts";
import type { SandboxPolicy } from "../../../src/sandbox/policy.ts";
import { makePlace, type Place } from "../helpers.ts";

describe("the profile of a hook's policy", () => {
  let place: Place;
  before(() => {
    place = makePlace();
    place.write("dotfiles/aws/credentials");
    place.write("control/.reyn/agents/other/state/log");
    place.write("control/reyn.local.yaml");
    place.write("control/out/hook.sh");
    symlinkSync(path.join(place.root, "dotfiles/aws"), path.join(place.home, ".aws"));
  });
  after(() => place.remove());

  const asks = (policy: SandboxPolicy) => {
    const result = confine(policy);
    assert.ok(result.ok, JSON.stringify(result));
    const read = readForms(result.profile);
    assert.ok(read.ok);
    const rules = rulesOf(read.forms);
    return (operation: string, file: string) =>
      decideSurely(rules, { operation, path: path.resolve(place.root, file) });
  };

  it("denies what is denied to every hook, by its own name, by its symlink's target, and before it exists", () => {
    const ask = asks(place.policy({ writePaths: ["~", "/"] }));
    for (
      const file of [
        "home/.ssh/id_rsa",
        "home/.aws/credentials",
        "dotfiles/aws/credentials",
        "home/Library/Keychains/login.keychain-db",
        "control/.reyn/agents/other/state/log",
        "/private/etc/master.passwd",
      ]
    ) {
      assert.equal(ask("file-read-data", file), "deny", file);
      assert.equal(ask("file-write-create", file), "deny", file);
    }
    assert.equal(ask("file-read-data", "home/notes"), "allow");
    assert.equal(ask("file-write-create", "home/work/notes"), "allow");
    assert.equal(ask("file-write-create", "home/notes"), "deny");
    assert.equal(ask("file-write-unlink", "home"), "deny");
  });

  it("leaves readable what is never written", () => {
    const hook = path.join(place.control, "out/hook.sh");
    const ask = asks(place.policy({ writePaths: ["."] }, { readOnly: [hook] }));
    for (const file of ["control/reyn.local.yaml", "control/cli-config.yaml", hook]) {
      assert.equal(ask("file-read-data", file), "allow", file);
      assert.equal(ask("file-write-data", file), "deny", file);
    }
  });

  it("is not made when a grant lies where macOS keeps keys, also by another name", () => {
    mkdirSync(path.join(place.home, "Library/Keychains"), { recursive: true });
    symlinkSync(path.join(place.home, "Library/Keychains"), path.join(place.control, "keys"));
    for (const grant of ["~/Library/Keychains", "keys"]) {
      const result = confine(place.policy({ writePaths: [grant] }));
      assert.ok(!result.ok);
      assert.equal(result.outcome, "launch_failed");
      assert.match(result.reason, /no hook may read or write/);
    }
  });
});
