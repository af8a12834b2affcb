import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { systemClock } from "../../../src/clock/clock.ts";
import { seatbeltSelfTest } from "../../../src/sandbox/macos/probe.ts";
import { FLOOR_REFUSES } from "../../../src/sandbox/macos/probe_script.ts";
import { SANDBOX_EXEC } from "../../../src/sandbox/macos/run.ts";
import { openSandbox } from "../../../src/sandbox/sandbox.ts";
import { makePlace, type Place } from "../helpers.ts";
import { makeStandIns, type StandIns } from "./stand_ins.ts";

describe("the self test of Seatbelt", () => {
  let standIns: StandIns;
  let place: Place;
  before(() => {
    standIns = makeStandIns();
    place = makePlace();
  });
  after(() => {
    standIns.remove();
    place.remove();
  });
  const reasonOf = async (sandboxExec: string) => {
    const result = await seatbeltSelfTest(sandboxExec);
    return result.confirmed ? "confirmed" : result.reason;
  };

  it("confirms where all that the profile says is enforced", async () => {
    const result = await seatbeltSelfTest(standIns.enforces);
    assert.ok(result.confirmed, JSON.stringify(result));
  });

  it("does not confirm a program that merely executes, for every attempt works there", async () => {
    const sandbox = openSandbox({ platform: "darwin", sandboxExec: standIns.merelyExecutes });
    const result = await sandbox.probe();
    const reason = result.confirmed ? "confirmed" : result.reason;
    const open = /not refused: ([^;]*)/.exec(reason)?.[1]?.split(", ") ?? [];
    // Other names of the same file are only found on a Mac's disk.
    const onMacOnly = ["read_secret_by_case", "read_secret_by_volume"];
    assert.deepEqual(open, FLOOR_REFUSES.filter((name) => !onMacOnly.includes(name)));
    assert.match(reason, /floor: not refused: fork/);
    assert.equal(await sandbox.probe(), result);
  });

  it("does not confirm where nothing works", async () => {
    assert.match(await reasonOf(standIns.script("exit 0")), /did not answer \(ok 0\)/);
    assert.match(await reasonOf(standIns.script("kill -ABRT $$")), /did not answer \(SIGABRT\)/);
  });

  it("does not confirm a floor that is never lifted", async () => {
    const never = standIns.script(
      `case "$2" in *'(allow process-fork)'*) exit 1;; esac\nexec ${standIns.enforces} "$@"`,
    );
    assert.match(await reasonOf(never), /lifted: the program inside did not answer \(exit 1\)/);
  });

  it("says that reyn is in a sandbox already", async () => {
    const nested = standIns.script(
      'echo "sandbox-exec: sandbox_apply: Operation not permitted" >&2; exit 71',
    );
    assert.match(await reasonOf(nested), /already in a sandbox/);
  });

  it("says what of the profile the system does not take", async () => {
    const other = standIns.script(
      'echo "sandbox-exec: <input string>:7:2: unbound variable: file-link" >&2; exit 65',
    );
    assert.match(await reasonOf(other), /does not take the profile: .*unbound variable: file-link/);
  });

  it("does not confirm without sandbox-exec, and nothing runs then", async () => {
    const missing = path.join(place.root, "sandbox-exec");
    assert.equal(await reasonOf(missing), `there is no ${missing}`);
    const marker = path.join(place.control, "ran");
    const sandbox = openSandbox({ platform: "darwin", sandboxExec: missing });
    const run = await sandbox.run({
      argv: ["/usr/bin/touch", marker],
      cwd: place.control,
      env: {},
      policy: place.policy({ writePaths: ["."] }),
      timeoutMs: 1000,
      stdout: "ignore",
      clock: systemClock,
    });
    assert.equal(run.outcome, "sandbox_unconfirmed");
    assert.equal(existsSync(marker), false);
    sandbox.close();
  });

  it("is asked of the system's own program where none is named", async () => {
    const result = await openSandbox({ platform: "darwin" }).probe();
    if (existsSync(SANDBOX_EXEC)) assert.ok(result.confirmed, JSON.stringify(result));
    else assert.deepEqual(result, { confirmed: false, reason: "there is no /usr/bin/sandbox-exec" });
  });
});
