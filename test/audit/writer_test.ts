import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { Audit } from "../../src/audit/audit.ts";
import { type AuditOptions, openAudit } from "../../src/audit/writer.ts";
import { sequentialIds } from "../../src/clock/ids.ts";
import { type VirtualClock, virtualClock } from "../../src/clock/virtual_clock.ts";
import { folders, NOON, read, stored, until } from "./helpers.ts";

const folder = folders();

interface Opened {
  audit: Audit;
  clock: VirtualClock;
  dir: string;
  emit: (seq: number) => void;
}

function opened(options: Partial<AuditOptions> = {}, startMs = NOON): Opened {
  const clock = virtualClock(startMs);
  const dir = join(folder(), ".reyn", "events");
  const audit = openAudit({ dir, clock, ids: sequentialIds("a"), pid: 42, ...options });
  const emit = (seq: number) =>
    audit.emit("turn_settled", "default/main", { kind: "human", chain_id: null, seq });
  return { audit, clock, dir, emit };
}

const seqs = (dir: string) => stored(dir).map(({ type, data }) => data["seq"] ?? type);

describe("the audit writer", () => {
  it("makes no file and arms no timer while nothing is emitted", async () => {
    const { audit, clock, dir } = opened();
    await audit.flush();
    assert.equal(clock.armed(), 0);
    await audit.close();
    assert.equal(existsSync(dir), false);
    assert.equal(clock.armed(), 0);
  });

  it("writes what was emitted together after 50 ms, and then arms no timer", async () => {
    const { audit, clock, dir, emit } = opened();
    emit(1);
    await clock.advance(49);
    emit(2);
    assert.equal(existsSync(dir), false);
    assert.equal(clock.armed(), 1);
    await clock.advance(1);
    await until(
      "both are stored",
      () => existsSync(dir) && readdirSync(dir).length > 0 && seqs(dir).length === 2,
    );
    await audit.flush();
    assert.equal(clock.armed(), 0);
    assert.deepEqual(
      stored(dir).map(({ id, timestamp }) => [id, timestamp]),
      [["a-1", "2026-11-30T12:00:00.000Z"], ["a-2", "2026-11-30T12:00:00.049Z"]],
    );
    await audit.close();
  });

  it("does not wait when a whole batch is there", async () => {
    const { audit, clock, dir, emit } = opened({ maxBatch: 10 });
    for (let seq = 1; seq <= 25; seq++) emit(seq);
    await until(
      "two batches are stored",
      () => existsSync(dir) && readdirSync(dir).length > 0 && seqs(dir).length >= 20,
    );
    await clock.advance(50);
    await audit.close();
    assert.deepEqual(seqs(dir), Array.from({ length: 25 }, (_, index) => index + 1));
  });

  it("has everything on disk that was emitted before a flush", async () => {
    const { audit, dir, emit } = opened({ maxBatch: 7 });
    const flushes: Promise<void>[] = [];
    for (let seq = 1; seq <= 30; seq++) {
      emit(seq);
      if (seq % 10 === 0) {
        flushes.push(audit.flush().then(() => assert.ok(seqs(dir).length >= seq, `${seq} flushed`)));
      }
    }
    await Promise.all(flushes);
    await audit.close();
  });

  it("writes files that only their owner reads, named by UTC day and process", async () => {
    const { audit, dir, emit } = opened();
    emit(1);
    await audit.close();
    assert.deepEqual(readdirSync(dir), ["2026-11-30-42.jsonl"]);
    assert.equal(statSync(join(dir, "2026-11-30-42.jsonl")).mode & 0o777, 0o600);
    assert.equal(statSync(dir).mode & 0o777, 0o700);
  });

  it("puts each event into the file of its own day", async () => {
    const { audit, clock, dir, emit } = opened({ flushMs: 10_000 }, Date.UTC(2026, 10, 30, 23, 59, 59, 998));
    for (let seq = 1; seq <= 4; seq++) {
      emit(seq);
      await clock.advance(1);
    }
    await audit.close();
    assert.deepEqual(readdirSync(dir).sort(), ["2026-11-30-42.jsonl", "2026-12-01-42.jsonl"]);
    assert.deepEqual(seqs(dir), [1, 2, 3, 4]);
    assert.equal(readFileSync(join(dir, "2026-11-30-42.jsonl"), "utf8").split("\n").length, 3);
  });

  it("goes on in the next part when a file is full, also in a process of the same id", async () => {
    const first = opened({ maxFileBytes: 450, maxBatch: 1 });
    for (let seq = 1; seq <= 5; seq++) {
      first.emit(seq);
      await first.audit.flush();
    }
    await first.audit.close();
    const { dir, clock } = first;
    assert.deepEqual(readdirSync(dir).sort(), [
      "2026-11-30-42.2.jsonl",
      "2026-11-30-42.3.jsonl",
      "2026-11-30-42.jsonl",
    ]);
    for (const name of readdirSync(dir)) assert.ok(statSync(join(dir, name)).size <= 450);

    const again = openAudit({ dir, clock, ids: sequentialIds("b"), pid: 42, maxFileBytes: 450 });
    again.emit("turn_settled", "default/main", { kind: "human", chain_id: null, seq: 6 });
    await again.close();
    assert.equal(readdirSync(dir).length, 3);
    assert.deepEqual((await read(dir)).lines.map(({ event }) => event.data["seq"]), [1, 2, 3, 4, 5, 6]);
  });

  it("builds data given as a function when it writes, not before", async () => {
    const { audit, dir } = opened();
    let built = 0;
    audit.emit("hooks_evaluated", "default/main", () => {
      built++;
      return { point: "turn_end", verdicts: { fmt: "run" } };
    });
    assert.equal(built, 0);
    await audit.close();
    assert.equal(built, 1);
    assert.deepEqual(stored(dir)[0]?.data, { point: "turn_end", verdicts: { fmt: "run" } });
  });

  it("records data that cannot be built as a gap, without what the failure quotes", async () => {
    const { audit, dir, emit } = opened();
    const circular: Record<string, string> = {};
    Object.assign(circular, { circular });
    emit(1);
    audit.emit("hooks_evaluated", "default/main", () => {
      throw new RangeError("message text");
    });
    audit.emit("hooks_evaluated", "default/main", { point: "turn_end", verdicts: circular });
    emit(2);
    await audit.close();
    assert.deepEqual(
      stored(dir).map(({ type, session, data }) => [type, session, data["seq"] ?? data]),
      [
        ["turn_settled", "default/main", 1],
        ["audit_dropped", "default/main", {
          count: 1,
          reason: "data_failed",
          event: "hooks_evaluated",
          error: "RangeError",
        }],
        ["audit_dropped", "default/main", {
          count: 1,
          reason: "data_failed",
          event: "hooks_evaluated",
          error: "TypeError",
        }],
        ["turn_settled", "default/main", 2],
      ],
    );
  });

  it("cuts long texts, and records an event above the longest line as a gap", async () => {
    const { audit, dir } = opened();
    audit.emit("session_halted", "default/main", { reason: "x".repeat(1_000_000) });
    audit.emit("inbox_dropped", "default/main", {
      ids: Array.from({ length: 40_000 }, (_, n) => `id-${n}`),
      reason: "full",
    });
    await audit.close();
    const [cut, gap] = stored(dir);
    assert.equal(cut?.data["reason"], "x".repeat(1021) + "…");
    assert.deepEqual(gap?.data, { count: 1, reason: "too_large", event: "inbox_dropped" });
  });

  it("drops the newest above the limit of events, and says how many, in their place", async () => {
    const { audit, dir, emit } = opened({ queueLimit: { events: 3, bytes: 1e9 } });
    for (let seq = 1; seq <= 10; seq++) emit(seq);
    await audit.flush();
    for (let seq = 11; seq <= 15; seq++) emit(seq);
    await audit.close();
    assert.deepEqual(
      stored(dir).map(({ type, data }) => type === "audit_dropped" ? data : data["seq"]),
      [1, 2, 3, { count: 7, reason: "queue_full" }, 11, 12, 13, { count: 2, reason: "queue_full" }],
    );
  });

  it("drops the newest above the limit of bytes", async () => {
    const { audit, dir, emit } = opened({ queueLimit: { events: 1000, bytes: 20_000 } });
    audit.emit("session_halted", null, { reason: "x".repeat(9_000) });
    audit.emit("session_halted", null, { reason: "x".repeat(9_000) });
    emit(1);
    await audit.flush();
    audit.emit("session_halted", null, { reason: "x".repeat(9_000) });
    await audit.close();
    assert.deepEqual(seqs(dir), ["session_halted", "audit_dropped", 1, "session_halted"]);
  });

  it("takes nothing after its close, which may be called twice", async () => {
    const { audit, clock, dir, emit } = opened();
    emit(1);
    const closed = Promise.all([audit.close(), audit.close()]);
    emit(2);
    await closed;
    await audit.flush();
    assert.deepEqual(seqs(dir), [1]);
    assert.equal(clock.armed(), 0);
  });
});
