import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { readProcess } from "../../../src/adapter/process_table.ts";
import { systemClock } from "../../../src/clock/clock.ts";
import { virtualClock } from "../../../src/clock/virtual_clock.ts";
import type { RunOptions } from "../../../src/sandbox/linux/run.ts";
import { runSeatbelt } from "../../../src/sandbox/macos/run.ts";
import type { Grants } from "../../../src/sandbox/policy.ts";
import { makePlace, type Place } from "../helpers.ts";
import { makeStandIns, type StandIns } from "./stand_ins.ts";

describe("a run under Seatbelt", () => {
  let place: Place;
  let standIns: StandIns;
  before(() => {
    place = makePlace();
    place.write("control/out/x");
    place.write("home/.ssh/key");
    standIns = makeStandIns();
  });
  after(() => {
    place.remove();
    standIns.remove();
  });

  const run = (
    argv: string[],
    options: Partial<RunOptions> = {},
    grants: Partial<Grants> = {},
    sandboxExec = standIns.merelyExecutes,
  ) =>
    runSeatbelt(sandboxExec, {
      argv,
      cwd: place.control,
      env: { PATH: "/usr/bin:/bin" },
      policy: place.policy(grants),
      timeoutMs: 20_000,
      stdout: "capture",
      clock: systemClock,
      ...options,
    });
  const sh = (script: string, options: Partial<RunOptions> = {}, grants: Partial<Grants> = {}) =>
    run(["/bin/sh", "-c", script], options, grants);
  const runs = (pid: string) => {
    assert.match(pid, /^\d+\n$/);
    const row = readProcess(Number(pid));
    return row !== undefined && row.state !== "Z";
  };

  it("hands sandbox-exec the profile and then the program with its arguments", async () => {
    const shows = standIns.script('echo "$1 $(echo "$2" | head -2 | tr "\\n" " ")"; shift 2; echo "$@"');
    const { stdoutText } = await run(["/bin/echo", "-n", "a b"], {}, {}, shows);
    assert.equal(stdoutText, "-p (version 1) (deny default) \n/bin/echo -n a b\n");
  });

  it("gives the input whole, and tells exit code, output and the end of stderr", async () => {
    const result = await sh("cat; echo err >&2; exit 3", { stdin: '{"point":"turn_end"}\n' });
    assert.deepEqual([result.outcome, result.returncode, result.stdoutText, result.stderrTail], [
      "exit",
      3,
      '{"point":"turn_end"}\n',
      "err\n",
    ]);
    assert.equal(result.denial, null);
  });

  it("tells the signal that ended it", async () => {
    const { outcome, signal, returncode } = await sh("kill -SEGV $$");
    assert.deepEqual([outcome, signal, returncode], ["signal", "SIGSEGV", -11]);
  });

  it("ends its whole group at the clock's deadline", async () => {
    const clock = virtualClock();
    const running = sh("trap '' TERM; sleep 300 & echo $!; wait", { clock, timeoutMs: 60_000 });
    await new Promise((resolve) => setTimeout(resolve, 200));
    await clock.advance(60_000);
    const { outcome, returncode, reason, stdoutText } = await running;
    assert.deepEqual([outcome, returncode, reason], ["timeout", -1, "timed out after 60 s"]);
    assert.equal(runs(stdoutText), false);
  });

  it("leaves nothing of its group behind when it ends by itself", async () => {
    const { outcome, stdoutText } = await sh("sleep 300 & echo $!");
    assert.equal(outcome, "ok");
    assert.equal(runs(stdoutText), false);
  });

  it("ends an output without end, and one that is cancelled", async () => {
    const endless = await run(["/usr/bin/yes"], { limits: { stdoutBytes: 1000 } });
    assert.deepEqual([endless.outcome, endless.stdout.length], ["output_limit", 1000]);
    const stop = new AbortController();
    const running = run(["/bin/sleep", "300"], { signal: stop.signal });
    stop.abort();
    const { outcome, reason } = await running;
    assert.deepEqual([outcome, reason], ["signal", "it was ended by reyn"]);
  });

  it("tells a program that does not start from one that fails", async () => {
    const missing = standIns.script(
      `echo "sandbox-exec: execvp() of '$3' failed: No such file or directory" >&2; exit 71`,
    );
    const started = await run(["/no/such/program"], {}, {}, missing);
    assert.equal(started.outcome, "launch_failed");
    assert.match(started.reason ?? "", /^\/no\/such\/program: .*No such file/);
    const failing = await sh("echo sandbox-exec: is what I am called >&2; exit 7");
    assert.deepEqual([failing.outcome, failing.returncode], ["exit", 7]);
    const folder = await run(["/bin/true"], { cwd: path.join(place.root, "nowhere") });
    assert.equal(folder.outcome, "launch_failed");
    assert.match(folder.reason ?? "", /there is no folder/);
  });

  it("does not take a refusal of the profile for a run", async () => {
    const refuses = standIns.script(
      'echo "sandbox-exec: <input string>:3:8: unbound variable: x" >&2; exit 65',
    );
    const { outcome, reason } = await run(["/bin/true"], {}, {}, refuses);
    assert.equal(outcome, "sandbox_unconfirmed");
    assert.match(reason ?? "", /does not take the profile/);
    const gone = await run(["/bin/true"], {}, {}, path.join(place.root, "none"));
    assert.equal(gone.outcome, "sandbox_unconfirmed");
  });

  it("does not start with a grant that is missing, guarded or a device", async () => {
    for (
      const [grant, wanted] of [
        ["nowhere", /nowhere cannot be granted \(ENOENT\)/],
        ["~/.ssh", /\.ssh lies where no hook may read or write/],
        ["~/.ssh/key", /lies where no hook may read or write/],
        ["/dev/null", /lies where no hook may write/],
      ] as const
    ) {
      const { outcome, reason } = await run(["/bin/true"], {}, { writePaths: [grant] });
      assert.equal(outcome, "launch_failed");
      assert.match(reason ?? "", wanted);
    }
  });

  it("does not start when a guarded path cannot stand in a profile", async () => {
    const policy = place.policy({}, { denyRead: ["/a\nb"] });
    const { outcome, reason } = await run(["/bin/true"], { policy });
    assert.equal(outcome, "sandbox_unconfirmed");
    assert.match(reason ?? "", /control character/);
  });

  it("holds a real program to what the profile says", async () => {
    const script =
      'read -r key < "$1" && echo read; echo x > out/new && echo out; echo x > new && echo beside';
    const key = path.join(place.home, ".ssh/key");
    const { stdoutText, denial } = await run(
      ["/bin/sh", "-c", script, "sh", key],
      {},
      { writePaths: ["out"] },
      standIns.enforces,
    );
    assert.equal(stdoutText, "out\n");
    assert.equal(denial?.attribution, "heuristic");
    assert.equal(existsSync(path.join(place.control, "new")), false);
  });
});
