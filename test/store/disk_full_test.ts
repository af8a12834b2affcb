import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, statfs, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { ReynError } from "../../src/errors/reyn_error.ts";
import { acquireStateLock } from "../../src/store/state_lock.ts";
import { append, big, claim, numbers, open, openFails, SESSION, texts } from "./support.ts";

const SIZE = 2 * 1024 * 1024;

const root = await mkdtemp(join(tmpdir(), "reyn-store-full-"));
const refusal = await mount(root);
const skip = refusal !== undefined;
const why = !skip ? "" : ` (skipped: a small tmpfs cannot be mounted here: ${refusal})`;
if (refusal !== undefined) {
  console.error(`disk_full_test: SKIPPED, a small tmpfs cannot be mounted here: ${refusal}`);
}

describe(`a store on a full disk${why}`, () => {
  after(async () => {
    if (!skip) await run("umount", root);
    await rm(root, { recursive: true, force: true });
  });

  it(
    "says so, keeps what it has, goes on with what fits and recovers when space returns",
    { skip },
    async () => {
      const dir = join(root, "a");
      let store = await open(dir);
      const epoch = await claim(store);
      const commit = (text: string) => store.commit({ session: SESSION, epoch, ops: [append(text)] });
      await commit("1");
      const ballast = join(root, "ballast");
      await fill(ballast, 300 * 1024);

      const tooMuch = { id: "m", kind: "user", wake: true, body: big(600 * 1024) };
      await assert.rejects(store.put(SESSION, tooMuch), { code: "E_STATE_FULL" });
      assert.deepEqual(await store.pending(SESSION, 10), []);
      assert.deepEqual(await texts(store), ["1"]);

      // One that does not fit fails alone among those that share its transaction.
      const together = await Promise.allSettled([commit("2"), store.put(SESSION, tooMuch), commit("3")]);
      assert.deepEqual(together.map(({ status }) => status), ["fulfilled", "rejected", "fulfilled"]);

      await fill(ballast, 0);
      const refused = await untilRejected(() => commit("filler".repeat(2000)));
      assert.ok(refused instanceof ReynError && refused.code === "E_STATE_FULL", String(refused));
      const before = await texts(store);

      await rm(ballast);
      assert.equal((await commit("after")).status, "ok");
      assert.deepEqual(await texts(store), [...before, "after"]);
      await store.close();
      store = await open(dir);
      assert.deepEqual(await texts(store), [...before, "after"]);
      assert.deepEqual(before.slice(0, 3), numbers(3));
      assert.equal((await store.put(SESSION, tooMuch)).status, "stored");
      await store.close();
      await rm(dir, { recursive: true });
    },
  );

  it("cannot be made there, and can be once space returns", { skip }, async () => {
    const dir = join(root, "b");
    const ballast = join(root, "ballast");
    await fill(ballast, 8 * 1024);
    const { error } = await openFails(dir, "E_STATE_FULL");
    assert.match(error.fix ?? "", /free space/);
    await rm(ballast);
    const store = await open(dir);
    await claim(store);
    await store.close();
    await rm(dir, { recursive: true });
  });

  it("is not locked there, and can be once space returns", { skip }, async () => {
    const dir = join(root, "d");
    await mkdir(dir);
    const ballast = join(root, "ballast");
    await fill(ballast, 0);
    const holder = { verb: "run", pid: process.pid, startedAt: 1 };
    assert.throws(() => acquireStateLock({ dir, holder }), { code: "E_STATE_FULL" });
    await rm(ballast);
    const lock = acquireStateLock({ dir, holder });
    assert.equal(lock.status, "acquired");
    if (lock.status === "acquired") lock.release();
    await rm(dir, { recursive: true });
  });

  it("is still read there", { skip }, async () => {
    const dir = join(root, "c");
    const store = await open(dir);
    const epoch = await claim(store);
    await store.commit({ session: SESSION, epoch, ops: [append("1")] });
    const ballast = join(root, "ballast");
    await fill(ballast, 0);
    const reader = await open(dir, { readOnly: true });
    assert.deepEqual(await texts(reader), ["1"]);
    await reader.close();
    await rm(ballast);
    await store.close();
    await rm(dir, { recursive: true });
  });
});

async function untilRejected(call: () => Promise<unknown>): Promise<Error> {
  for (let i = 0; i < 1000; i++) {
    const error = await call().then(() => undefined, (error: unknown) => error);
    if (error instanceof Error) return error;
  }
  return assert.fail("the disk never filled");
}

/** Writes a file that leaves about `left` bytes free. */
async function fill(path: string, left: number): Promise<void> {
  await rm(path, { force: true });
  const { bavail, bsize } = await statfs(root);
  await writeFile(path, Buffer.alloc(Math.max(0, bavail * bsize - left)));
}

async function mount(at: string): Promise<string | undefined> {
  if (process.platform !== "linux") return `the platform is ${process.platform}`;
  const { code, said } = await run("mount", "-t", "tmpfs", "-o", `size=${SIZE},mode=0700`, "reyn-test", at);
  return code === 0 ? undefined : said.split("\n")[0] || `mount ended with ${code}`;
}

function run(command: string, ...args: string[]): Promise<{ code: number; said: string }> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ["ignore", "ignore", "pipe"] });
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => said += chunk);
    child.once("error", (error) => resolve({ code: -1, said: error.message }));
    child.once("close", (code) => resolve({ code: code ?? -1, said: said.trim() }));
  });
}
