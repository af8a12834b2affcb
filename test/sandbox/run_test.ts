import assert from "node:assert/strict";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { type Clock, systemClock } from "../../src/clock/clock.ts";
import { virtualClock } from "../../src/clock/virtual_clock.ts";
import { FIXED_PATH } from "../../src/sandbox/environment.ts";
import type { RunOptions } from "../../src/sandbox/linux/run.ts";
import type { Grants } from "../../src/sandbox/policy.ts";
import { openSandbox, type Sandbox } from "../../src/sandbox/sandbox.ts";
import { makePlace, type Place } from "./helpers.ts";

describe("a confined run", () => {
  let place: Place;
  let sandbox: Sandbox;
  before(async () => {
    place = makePlace();
    place.write("home/.npmrc", "token");
    place.write("control/out/x");
    place.write("control/bad_interpreter", "#!/no/such/thing\n", 0o755);
    place.write("control/text", "hello\n", 0o755);
    place.write("home/.bashrc", "echo from the start-up file\n");
    sandbox = openSandbox({ helperFolders: [path.join(place.root, "helper")] });
  });
  after(() => place.remove());

  const run = (argv: string[], options: Partial<RunOptions> = {}, grants: Partial<Grants> = {}) =>
    sandbox.run({
      argv,
      cwd: place.control,
      env: { PATH: FIXED_PATH, HOME: place.home },
      policy: place.policy(grants),
      timeoutMs: 20_000,
      stdout: "capture",
      clock: systemClock,
      ...options,
    });
  const sh = (script: string, options: Partial<RunOptions> = {}, grants: Partial<Grants> = {}) =>
    run(["/bin/sh", "-c", script], options, grants);

  it("gives the input whole and then ends it", async () => {
    const { outcome, returncode, stdoutText } = await run(["/bin/cat"], { stdin: '{"point":"turn_end"}\n' });
    assert.deepEqual([outcome, returncode, stdoutText], ["ok", 0, '{"point":"turn_end"}\n']);
  });

  it("tells an exit code and the end of stderr", async () => {
    const result = await sh("echo out; echo err >&2; exit 3");
    assert.deepEqual([result.outcome, result.returncode, result.stdoutText, result.stderrTail], [
      "exit",
      3,
      "out\n",
      "err\n",
    ]);
    assert.equal(result.denial, null);
  });

  it("tells the signal that ended it", async () => {
    const { outcome, signal, returncode } = await sh("kill -SEGV $$");
    assert.deepEqual([outcome, signal, returncode], ["signal", "SIGSEGV", -11]);
  });

  it("ends it at the clock's deadline, not before", async () => {
    const clock = virtualClock();
    let ended = false;
    const running = sh("exec sleep 300", { clock, timeoutMs: 60_000 }).finally(() => (ended = true));
    while (clock.armed() === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await clock.advance(59_000);
    assert.equal(ended, false);
    await clock.advance(1000);
    const { outcome, returncode, reason, denial } = await running;
    assert.deepEqual([outcome, returncode, reason, denial], ["timeout", -1, "timed out after 60 s", null]);
  });

  it("passes exactly the environment it is given", async () => {
    const { stdoutText } = await run(["/usr/bin/env"], { env: { ONLY: "this one" } });
    assert.equal(stdoutText, "ONLY=this one\n");
  });

  it("has pipes for its streams, so that no shell takes them for a remote login", async () => {
    const { stdoutText } = await run([
      "/bin/ls",
      "-l",
      "/proc/self/fd/0",
      "/proc/self/fd/1",
      "/proc/self/fd/2",
    ]);
    assert.equal(stdoutText.match(/pipe:/g)?.length, 3, stdoutText);
    const shell = await run(["/bin/bash", "-c", "echo only this > /dev/stdout"]);
    assert.equal(shell.stdoutText, "only this\n");
  });

  it("takes argv as it is, never through a shell", async () => {
    const { stdoutText } = await run(["/bin/echo", "$HOME", ">>x", "*", "a b", ""]);
    assert.equal(stdoutText, "$HOME >>x * a b \n");
  });

  it("decodes output as one stream, whatever the pieces", async () => {
    const script = String
      .raw`printf 'caf\303'; sleep 0.05; printf '\251 \342'; sleep 0.05; printf '\211'; sleep 0.05; printf '\244'`;
    const { stdoutText } = await sh(script, {}, { subprocess: true });
    assert.equal(stdoutText, "café ≤".replace("≤", "\u2264"));
    assert.equal((await sh(String.raw`printf 'a\377b'`)).stdoutText, "a\uFFFDb");
  });

  it("keeps the end of stderr only", async () => {
    const script = 'i=0; while [ $i -lt 5000 ]; do echo "line $i" >&2; i=$((i+1)); done';
    const { stderrTail } = await sh(script, { limits: { stderrBytes: 100 } });
    assert.equal(stderrTail.length, 100);
    assert.ok(stderrTail.endsWith("line 4999\n"));
  });

  it("ignores output when it is not to be captured, however much", async () => {
    const result = await run(["/usr/bin/head", "-c", "12000000", "/dev/zero"], { stdout: "ignore" });
    assert.deepEqual([result.outcome, result.stdout.length], ["ok", 0]);
  });

  it("captures up to the limit and not a byte more", async () => {
    const head = (bytes: number) =>
      run(["/usr/bin/head", "-c", String(bytes), "/dev/zero"], { limits: { stdoutBytes: 1000 } });
    assert.equal((await head(1000)).outcome, "ok");
    const over = await head(1001);
    assert.deepEqual([over.outcome, over.stdout.length, over.returncode], ["output_limit", 1000, -1]);
  });

  it("names what cannot be started", async () => {
    const missing = await run(["/no/such/program"]);
    assert.deepEqual([missing.outcome, missing.returncode], ["launch_failed", -1]);
    assert.match(missing.reason ?? "", /does not exist/);
    assert.match((await run([path.join(place.control, "bad_interpreter")])).reason ?? "", /interpreter/);
    assert.match((await run([path.join(place.control, "out/x")])).reason ?? "", /not executable/);
    assert.match((await run([path.join(place.control, "text")])).reason ?? "", /neither a program/);
    assert.match((await run(["/bin/true"], { cwd: "/no/such/folder" })).reason ?? "", /no folder/);
    assert.equal((await run(["/bin/true"], { cwd: "/no/such/folder" })).outcome, "launch_failed");
  });

  it("names the grant that cannot be given", async () => {
    const missing = await run(["/bin/true"], {}, { writePaths: ["not/there"] });
    assert.deepEqual([missing.outcome, missing.reason?.startsWith("write_paths:")], ["launch_failed", true]);
  });

  it("names a refused process, also where the shell words it its own way", async () => {
    for (const shell of ["/bin/dash", "/bin/bash"]) {
      const { outcome, denial } = await run([shell, "-c", "/bin/ls | /usr/bin/wc -l"]);
      assert.deepEqual([shell, outcome, denial?.class, denial?.attribution], [
        shell,
        "exit",
        "fork_denied",
        "counted",
      ]);
    }
  });

  it("names nothing when the run succeeded", async () => {
    const { outcome, denial, denied } = await sh("(exit 1) 2>/dev/null; exit 0");
    if (outcome === "ok") assert.equal(denial, null);
    else assert.ok((denied?.fork ?? 0) > 0);
    const quiet = await run(["/bin/sh", "-c", "echo 'fork: Operation not permitted' >&2"]);
    assert.deepEqual([quiet.outcome, quiet.denial], ["ok", null]);
  });

  it("names a refused write and a refused read by their paths", async () => {
    const write = await run(["/usr/bin/touch", "new"]);
    assert.deepEqual([write.denial?.class, write.denial?.path], [
      "write_denied",
      path.join(place.control, "new"),
    ]);
    const read = await run(["/bin/cat", `${place.home}/.npmrc`]);
    assert.deepEqual([read.denial?.class, read.denial?.attribution], ["read_denied", "heuristic"]);
    assert.equal(read.stdoutText, "");
  });

  it("names a refused connection", async () => {
    const { denial } = await run(["/bin/bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/9"]);
    assert.deepEqual([denial?.class, denial?.attribution], ["network_denied", "counted"]);
  });

  it("lets a grant through", async () => {
    const { outcome } = await sh("echo x > out/new", {}, { writePaths: ["out"] });
    assert.equal(outcome, "ok");
  });

  it("is over at once when it is aborted before it begins", async () => {
    const { outcome } = await sh("exec sleep 300", { signal: AbortSignal.abort() });
    assert.equal(outcome, "signal");
  });

  it("runs no more than eight at once", async () => {
    // Each run has one deadline armed while it lasts.
    let armed = 0;
    let most = 0;
    const clock: Clock = {
      ...systemClock,
      after(delayMs, callback) {
        armed += 1;
        most = Math.max(most, armed);
        const cancel = systemClock.after(delayMs, callback);
        return () => {
          armed -= 1;
          cancel();
        };
      },
    };
    await Promise.all(Array.from({ length: 24 }, () => sh(":", { clock })));
    assert.equal(most, 8);
    assert.equal(armed, 0);
  });
});
