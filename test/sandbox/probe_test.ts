import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { after, before, describe, it } from "node:test";
import { systemClock } from "../../src/clock/clock.ts";
import { digestOf, type HelperLoad, loadHelper } from "../../src/sandbox/linux/helper_bytes.ts";
import { openSandbox } from "../../src/sandbox/sandbox.ts";
import { makePlace, type Place } from "./helpers.ts";

describe("the self test", () => {
  let place: Place;
  let count = 0;
  before(() => (place = makePlace()));
  after(() => place.remove());

  const folder = () => path.join(place.root, `helper-${++count}`);
  /** A sandbox whose helper is another program. */
  const withHelper = (script: string) => {
    const bytes = new TextEncoder().encode(script);
    const load = (): Promise<HelperLoad> =>
      Promise.resolve({ ok: true, helper: { bytes, sha256: digestOf(bytes) } });
    return openSandbox({ helperFolders: [folder()], loadHelper: load });
  };
  const reasonOf = async (sandbox: ReturnType<typeof openSandbox>) => {
    const result = await sandbox.probe();
    assert.equal(result.confirmed, false);
    return result.confirmed ? "" : result.reason;
  };

  it("confirms the real helper, once", async () => {
    const sandbox = openSandbox({ helperFolders: [folder()] });
    const result = await sandbox.probe();
    assert.ok(result.confirmed, JSON.stringify(result));
    assert.ok((result.landlockAbi ?? 0) >= 1);
    assert.equal(await sandbox.probe(), result);
  });

  it("does not confirm a helper that merely executes", async () => {
    const script = '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n';
    assert.match(await reasonOf(withHelper(script)), /did not report/);
  });

  it("does not confirm one that executes and claims to confine", async () => {
    const end = JSON.stringify({
      v: 1,
      ok: true,
      exit: 0,
      signal: 0,
      timed_out: 0,
      terminated: 0,
      left_killed: 0,
      abi: 7,
      rules: 1,
      kept: 0,
      counted: 1,
      setup_us: 1,
      forks: 0,
      denied: { fork: 1, fork_budget: 0, inet: 0, unix: 0, socket: 0, metadata: 0, listing: 0, other: 0 },
    });
    const real = await loadHelper(process.arch);
    assert.ok(real.ok);
    const genuine = place.write("genuine", "", 0o755);
    const { writeFileSync } = await import("node:fs");
    writeFileSync(genuine, real.helper.bytes);
    const script = `#!/bin/sh\nfor last; do :; done\n${genuine} --self-test "$last"\n` +
      `echo '{"v":1,"started":7}' >&3\necho '${end}' >&3\n`;
    const reason = await reasonOf(withHelper(script));
    assert.match(reason, /not refused: .*read_secret/);
  });

  it("does not confirm one that refuses everything", async () => {
    const script = `#!/bin/sh\necho '{"v":1,"ok":false,"stage":"landlock_abi","errno":38}' >&3\nexit 125\n`;
    assert.match(await reasonOf(withHelper(script)), /the kernel has no Landlock/);
  });

  it("does not confirm without a helper, and says why", async () => {
    assert.match(
      await reasonOf(openSandbox({ helperFolders: [folder()], arch: "riscv64" })),
      /no helper for the architecture/,
    );
    assert.match(await reasonOf(openSandbox({ platform: "win32" })), /no sandbox for win32/);
    assert.match(await reasonOf(openSandbox({ helperFolders: ["/proc/nowhere"] })), /cannot hold the helper/);
  });

  it("tries the next folder when one cannot hold the helper", async () => {
    const result = await openSandbox({ helperFolders: ["/proc/nowhere", folder()] }).probe();
    assert.ok(result.confirmed);
  });

  it("leaves nothing behind, and nothing runs without it", async () => {
    const marker = path.join(place.control, "ran");
    const sandbox = withHelper("#!/bin/sh\nexit 0\n");
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
    assert.throws(() => readFileSync(marker), /ENOENT/);
  });
});
