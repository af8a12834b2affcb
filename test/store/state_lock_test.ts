import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { acquireStateLock, type StateLock } from "../../src/store/state_lock.ts";
import { ended, filesIn, inTempState, runScript } from "./support.ts";

const US = { verb: "serve", pid: process.pid, startedAt: 1_700_000_000_000 };

describe("the lock of a state folder", () => {
  it("is given to one at a time within a process, with who holds it", () =>
    inTempState(async (dir) => {
      const first = acquired(acquireStateLock({ dir, holder: US }));
      assert.deepEqual(acquireStateLock({ dir, holder: { ...US, verb: "run" } }), {
        status: "held",
        holder: { pid: US.pid, verb: "serve", startedAt: US.startedAt },
      });
      assert.equal((await stat(join(dir, "lock-holder.json"))).mode & 0o777, 0o600);
      assert.equal((await stat(dir)).mode & 0o777, 0o700);
      first.release();
      first.release();
      assert.deepEqual(await filesIn(dir), ["lock"]);
      acquired(acquireStateLock({ dir, holder: US })).release();
    }));

  it("is held against other processes, and free for them once released", () =>
    inTempState(async (dir) => {
      const ours = acquired(acquireStateLock({ dir, holder: US }));
      assert.deepEqual((await ended(runScript("lock_child.ts", dir, "run"))).lines, ["held"]);
      ours.release();
      const child = runScript("lock_child.ts", dir, "run");
      assert.equal(await firstLine(child), "acquired");
      assert.deepEqual(acquireStateLock({ dir, holder: US }), {
        status: "held",
        holder: { pid: child.pid, verb: "run", startedAt: 1234 },
      });
      child.kill("SIGKILL");
      await ended(child);
    }));

  it("is free again as soon as its holder was killed", () =>
    inTempState(async (dir) => {
      const child = runScript("lock_child.ts", dir, "serve");
      assert.equal(await firstLine(child), "acquired");
      child.kill("SIGKILL");
      await ended(child);
      acquired(acquireStateLock({ dir, holder: US })).release();
    }));

  it("goes to exactly one of those that race for it", () =>
    inTempState(async (dir) => {
      const children = Array.from({ length: 4 }, (_, i) => runScript("lock_child.ts", dir, `racer-${i}`));
      const told = await Promise.all(children.map(firstLine));
      assert.deepEqual(told.toSorted(), ["acquired", "held", "held", "held"]);
      const winner = children[told.indexOf("acquired")];
      const seen = acquireStateLock({ dir, holder: US });
      assert.equal(seen.status === "held" && seen.holder?.pid, winner?.pid);
      winner?.kill("SIGKILL");
    }));

  it("is not dropped by a collection of garbage, nor by reading the folder", () =>
    inTempState(async (dir) => {
      acquireStateLock({ dir, holder: US });
      for (let i = 0; i < 50; i++) new Uint8Array(4 * 1024 * 1024).fill(i);
      await readFile(join(dir, "lock-holder.json"));
      await filesIn(dir);
      assert.deepEqual((await ended(runScript("lock_child.ts", dir, "run"))).lines, ["held"]);
    }));

  it("names nobody when the account of the holder is missing, garbled, or of a process that is gone", () =>
    inTempState(async (dir) => {
      const ours = acquired(acquireStateLock({ dir, holder: US }));
      const child = runScript("lock_child.ts", dir, "run");
      await ended(child);
      const accounts = [
        "",
        "{",
        "null",
        JSON.stringify({ pid: "1", verb: "x", startedAt: 1 }),
        JSON.stringify({ pid: 0, verb: "x", startedAt: 1 }),
        JSON.stringify({ pid: child.pid, verb: "run", startedAt: 1 }),
      ];
      for (const account of accounts) {
        await writeFile(join(dir, "lock-holder.json"), account);
        assert.deepEqual(
          acquireStateLock({ dir, holder: US }),
          { status: "held", holder: undefined },
          account,
        );
      }
      ours.release();
    }));

  it("says what is wrong when the folder or the file cannot be used", () =>
    inTempState(async (dir) => {
      await mkdir(dir, { recursive: true });
      await writeFile(join(dir, "lock"), "somebody's notes\n".repeat(100));
      assert.throws(() => acquireStateLock({ dir, holder: US }), { code: "E_STATE_IO", fix: /move it away/ });
      await writeFile(join(dirname(dir), "file"), "");
      assert.throws(() => acquireStateLock({ dir: join(dirname(dir), "file"), holder: US }), {
        code: "E_STATE_IO",
      });
    }));
});

const kernels = existsSync("/sys/kernel") ? {} : { skip: "there is no /sys here" };

describe("a folder in which nothing can be written", () => {
  it("is refused with what to do about it", kernels, () => {
    assert.throws(() => acquireStateLock({ dir: "/sys/kernel/state", holder: US }), {
      code: "E_STATE_UNWRITABLE",
      message: /^\/sys\/kernel cannot be written \((EPERM|EACCES|EROFS)\); nothing was stored$/,
      fix: /.+/,
    });
  });
});

function acquired(lock: StateLock): { release(): void } {
  assert.equal(lock.status, "acquired");
  return lock.status === "acquired" ? lock : { release() {} };
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let printed = "";
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      printed += chunk;
      if (printed.includes("\n")) resolve(printed.slice(0, printed.indexOf("\n")));
    });
  });
}
