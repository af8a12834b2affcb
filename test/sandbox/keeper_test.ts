import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { after, before, beforeEach, describe, it } from "node:test";
import { systemClock } from "../../src/clock/clock.ts";
import { loadHelper } from "../../src/sandbox/linux/helper_bytes.ts";
import type { HelperEnd } from "../../src/sandbox/linux/helper_report.ts";
import { type InstalledHelper, installHelper } from "../../src/sandbox/linux/install_helper.ts";
import { type Keeper, openKeeper } from "../../src/sandbox/linux/keeper.ts";
import { runConfined } from "../../src/sandbox/linux/run.ts";
import type { Grants } from "../../src/sandbox/policy.ts";
import { makePlace, type Place } from "./helpers.ts";

/** More entries than the keeper is started for. */
const ENTRIES = 700;
/** A folder that changed a moment ago is not relied on. */
const SETTLED_MS = 60;

describe("rule sets kept between runs", () => {
  let place: Place;
  let helper: InstalledHelper;
  let keeper: Keeper;
  let last: HelperEnd | undefined;

  before(async () => {
    place = makePlace();
    place.write("home/.ssh/id_rsa", "secret");
    for (let i = 0; i < ENTRIES; i += 1) place.write(`home/file-${i}`, "plain");
    place.write("home/work/mine");
    place.write("home/notes/plain", "a note");
    const loaded = await loadHelper(process.arch);
    assert.ok(loaded.ok);
    const install = installHelper(loaded.helper, path.join(place.root, "helper"));
    assert.ok(install.ok);
    helper = install.installed;
    keeper = watched(openKeeper(helper));
  });
  after(() => {
    keeper.close();
    helper.close();
    place.remove();
  });

  /** Keeps the last report, too. */
  const watched = (opened: Keeper): Keeper => ({
    ...opened,
    note(end) {
      last = end;
      opened.note(end);
    },
  });
  const settle = () => new Promise((resolve) => setTimeout(resolve, SETTLED_MS));
  const run = (argv: string[], grants: Partial<Grants> = {}) =>
    runConfined(helper, keeper, {
      argv,
      cwd: "/",
      env: {},
      policy: place.policy(grants),
      timeoutMs: 10_000,
      stdout: "capture",
      clock: systemClock,
    });
  const cat = (name: string, grants: Partial<Grants> = {}) =>
    run(["/bin/cat", path.join(place.root, name)], grants);
  /** Runs until a kept set is used: other tests may be making files beside this one's folder. */
  const untilKept = async (grants: Partial<Grants> = {}) => {
    for (let i = 0; i < 50; i += 1) {
      await settle();
      await run(["/bin/true"], grants);
      if (last?.kept) return;
    }
    assert.fail("no rule set was kept");
  };
  beforeEach(() => untilKept());

  it("allow and refuse what fresh ones do", async () => {
    assert.equal((await cat("home/file-7")).stdoutText, "plain");
    assert.equal((await cat("home/.ssh/id_rsa")).outcome, "exit");
    assert.equal((await run(["/bin/ls", path.join(place.home, ".ssh")])).outcome, "exit");
    assert.equal((await run(["/bin/ls", place.home])).outcome, "ok");
  });

  it("do not hide a file that was just made", async () => {
    place.write("home/brand-new", "at once");
    assert.equal((await cat("home/brand-new")).stdoutText, "at once");
  });

  it("do not hide a file that was just replaced, as editors do", async () => {
    const file = place.write("home/file-1.new", "replaced");
    renameSync(file, path.join(place.home, "file-1"));
    assert.equal((await cat("home/file-1")).stdoutText, "replaced");
  });

  it("do not show a folder that has become a secret one", async () => {
    renameSync(path.join(place.home, "notes"), path.join(place.home, ".kube"));
    assert.equal((await cat("home/.kube/plain")).outcome, "exit");
  });

  it("are not used for other grants", async () => {
    const file = path.join(place.home, "work/made");
    const touch = ["/usr/bin/touch", file];
    await untilKept({ writePaths: [path.join(place.home, "work")] });
    assert.equal((await run(touch)).outcome, "exit");
    assert.equal((await run(touch, { writePaths: [path.join(place.home, "work")] })).outcome, "ok");
    assert.equal((await run(touch)).outcome, "exit");
  });

  it("notice that a granted folder is another one", async () => {
    const folder = path.join(place.home, "work");
    const grants = { writePaths: [folder] };
    await untilKept(grants);
    rmSync(folder, { recursive: true });
    mkdirSync(folder);
    assert.equal((await run(["/usr/bin/touch", path.join(folder, "made")], grants)).outcome, "ok");
  });

  it("are done without when the keeper is gone, which leaves its socket to the next", async () => {
    const [pid = 0] = keepers();
    process.kill(pid, "SIGKILL");
    for (let i = 0; i < 100 && keepers().length > 0; i += 1) await settle();
    assert.equal((await cat("home/file-7")).stdoutText, "plain");
    await untilKept();
    assert.equal(keepers().length, 1);
  });

  it("end with reyn", async () => {
    keeper.close();
    for (let i = 0; i < 100 && keepers().length > 0; i += 1) await settle();
    assert.deepEqual(keepers(), []);
    keeper = watched(openKeeper(helper));
  });

  /** Processes that keep rule sets for this test. */
  function keepers(): number[] {
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map(Number).filter((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, "utf8");
        return line.includes("\0--keep\0") && line.includes(place.root);
      } catch {
        return false;
      }
    });
  }
});
