import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { systemClock } from "../../src/clock/clock.ts";
import { randomIds } from "../../src/clock/ids.ts";
import { collectGarbage, DEFAULT_RETENTION } from "../../src/runtime/gc.ts";
import { type Bare, openBare } from "../../src/runtime/open_bare.ts";
import type { JsonObject } from "../../src/store/store.ts";

const DAY_MS = 86_400_000;
const host = { clock: systemClock, ioClock: systemClock, ids: randomIds(), fault: () => {} };

/** A control folder whose clock can be set ahead. */
async function inFolder(
  fn: (
    bare: Bare,
    collect: (days: number) => ReturnType<typeof collectGarbage>,
    controlDir: string,
  ) => Promise<void>,
) {
  const controlDir = await mkdtemp(join(tmpdir(), "reyn-gc-"));
  const bare = await openBare({ controlDir, verb: "test", host, talk: () => {} });
  try {
    await fn(bare, (days) => {
      const clock = { ...systemClock, now: () => systemClock.now() + days * DAY_MS };
      const { store, audit } = bare;
      return collectGarbage({
        controlDir,
        store,
        audit,
        clock,
        retention: DEFAULT_RETENTION,
        dry: false,
        fault() {},
      });
    }, controlDir);
  } finally {
    await bare.close();
    await rm(controlDir, { recursive: true, force: true });
  }
}

/** Puts and consumes messages in `default/target`, as they come from hooks of others, and one more that stays. */
async function consumed({ store }: Bare, ids: readonly string[]): Promise<void> {
  const session = "default/target";
  const claim = await store.claim(session, "local", 1e6);
  assert.equal(claim.status, "claimed");
  const epoch = claim.status === "claimed" ? claim.epoch : 0;
  const message = (id: string) => ({ id, kind: "hook", wake: true, body: {} });
  for (const id of [...ids, "newest"]) await store.put(session, message(id));
  assert.equal((await store.commit({ session, epoch, ops: [{ op: "consume", ids }] })).status, "ok");
}

async function withStatus({ store }: Bare, session: string, status: JsonObject): Promise<void> {
  const claim = await store.claim(session, "local", 1e6);
  const epoch = claim.status === "claimed" ? claim.epoch : 0;
  await store.commit({ session, epoch, ops: [{ op: "status", status }] });
}

describe("collecting garbage", () => {
  it("keeps every id within the window, and forgets it afterwards", () =>
    inFolder(async (bare, collect) => {
      await consumed(bare, ["a", "default/s/1/turn_end/x"]);
      assert.equal((await collect(6.9)).ids, 0);
      assert.equal((await collect(7.1)).ids, 2);
      assert.equal((await collect(7.1)).ids, 0);
    }));

  it("keeps ids of pushes of composed events that are still pending, and would come again, however old they are", () =>
    inFolder(async (bare, collect, controlDir) => {
      const folder = join(controlDir, ".reyn/agents/default/state/sessions/target");
      const event = (id: string) => ({ id, kind: "turn_end", payload: {}, chain_id: null, emitted_at: 1 });
      const record = (state: string, id: string) => ({
        composer: "late",
        op: "deadline",
        key: id,
        state,
        record: { events: [event(id)], created_at: 1, last_at: 1 },
      });
      await mkdir(folder, { recursive: true });
      const records = [
        record("pending", "default/target/1/turn_end"),
        record("fired", "late@default/target/2/x"),
      ];
      await writeFile(join(folder, "composer_pending.json"), JSON.stringify({ version: 1, records }));
      await consumed(bare, [
        "late@default/target/1/turn_end/startup:a/b",
        "late@default/target/2/x/session:#0",
        "late@default/target/3/turn_end/startup:a",
      ]);
      assert.equal((await collect(8)).ids, 1);
      await rm(join(folder, "composer_pending.json"));
      assert.equal((await collect(8)).ids, 2);
    }));

  it("keeps ids of pushes of a session whose turn may be run again, however old they are", () =>
    inFolder(async (bare, collect) => {
      const push = (session: string) => `${session}/3/turn_end/startup:again`;
      const senders = [
        "default/ended",
        "default/idle",
        "default/cut",
        "default/retried",
        "default/c",
        "cut/default",
      ];
      await consumed(bare, senders.map(push));
      await withStatus(bare, "default/ended", { open: false, retry: false });
      await withStatus(bare, "default/idle", { open: true, unloaded: true });
      await withStatus(bare, "default/cut", { open: true, unloaded: false });
      await withStatus(bare, "default/retried", { open: false, retry: true });
      assert.equal((await collect(400)).ids, 4);
      const put = (session: string) =>
        bare.store.put("default/target", { id: push(session), kind: "hook", wake: true, body: {} });
      assert.deepEqual(await Promise.all(senders.map(async (one) => (await put(one)).status)), [
        "stored",
        "stored",
        "duplicate",
        "duplicate",
        "stored",
        "stored",
      ]);
      await withStatus(bare, "default/cut", { open: false, retry: false });
      await bare.store.put("default/target", { id: "newer", kind: "hook", wake: true, body: {} });
      assert.equal((await collect(400)).ids, 1, "once it is settled they go too");
    }));

  it("removes log records that a snapshot stands for, of every session", () =>
    inFolder(async (bare, collect) => {
      for (const session of ["default/a", "default/b"]) {
        const claim = await bare.store.claim(session, "local", 1e6);
        const epoch = claim.status === "claimed" ? claim.epoch : 0;
        const append = { op: "append", record: { t: "ended", at: 1 } } as const;
        await bare.store.commit({
          session,
          epoch,
          ops: [append, append, { op: "snapshot", body: {}, history: [] }, append],
        });
      }
      assert.equal((await collect(0)).records, 4);
      assert.equal((await collect(0)).records, 0);
    }));

  it("leaves its own audit file alone, though it were of yesterday", () =>
    inFolder(async (bare, collect) => {
      bare.audit.emit("session_halted", null, { reason: "x" });
      await bare.audit.flush();
      assert.equal((await collect(1)).events.files, 0);
      assert.equal((await collect(400)).events.files, 1, "a file of a day long gone is nobody's any more");
      bare.audit.emit("session_halted", null, { reason: "y" });
      await bare.audit.flush();
    }));
});
