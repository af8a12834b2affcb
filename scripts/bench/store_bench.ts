import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { systemClock } from "../../src/clock/clock.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import type { JsonObject, Op, Store } from "../../src/store/store.ts";
import type { BenchRow } from "../lib/bench_table.ts";

export interface StoreBenchOptions {
  /** Lone commits measured. Default 1000. */
  commits?: number;
  /** Turns of three commits that each of the 64 sessions makes. Default 150. */
  turns?: number;
  /** Records replayed. Default 1 000 000. */
  records?: number;
}

const OWNER = "bench";
const LEASE_MS = 3_600_000;
const WARM_UP = 1200;
const SESSIONS = 64;
const ROUNDS = 10;
const RECORD: JsonObject = { kind: "step", text: "x".repeat(200) };

/** Figures of the embedded store, on the disk of the temporary folder. */
export async function rows(options: StoreBenchOptions = {}): Promise<BenchRow[]> {
  const { commits = 1000, turns = 150, records = 1_000_000 } = options;
  return [
    ...(await inFolder((dir) => loneCommit(dir, commits))),
    ...(await inFolder((dir) => enqueued(dir, commits))),
    ...(await inFolder((dir) => manySessions(dir, turns))),
    ...(await inFolder((dir) => recovery(dir, records))),
  ];
}

/** A lone commit beside a bare one, in turns, so that both see the same disk and the same neighbours. */
async function loneCommit(dir: string, count: number): Promise<BenchRow[]> {
  const store = await openSqliteStore({ dir, clock: systemClock });
  const session = "default/lone";
  const epoch = await claim(store, session);
  const bare = bareDatabase(dir);
  const put: number[] = [];
  const ours: number[] = [];
  const floor: number[] = [];
  // Past the first checkpoint both write into a -wal that does not grow any more.
  for (let i = 0; i < WARM_UP; i++) bare.commit();
  for (let i = 0; i < WARM_UP / 3; i++) {
    await store.commit({ session, epoch, ops: [{ op: "append", record: RECORD }] });
  }
  for (let i = 0; i < count; i++) {
    const id = `m${i}`;
    put.push(await took(() => store.put(session, { id, kind: "user", wake: true, body: RECORD })));
    const ops: Op[] = [{ op: "consume", ids: [id] }, { op: "append", record: RECORD }];
    const own = async () => ours.push(await took(() => store.commit({ session, epoch, ops })));
    const raw = async () => floor.push(await took(async () => bare.commit()));
    // Whatever comes right after another fsync is slower or quicker; each gets its share of that.
    await (i % 2 === 0 ? own() : raw());
    await (i % 2 === 0 ? raw() : own());
  }
  bare.close();
  await store.close();
  const floorName = "BEGIN IMMEDIATE; INSERT; COMMIT";
  return [
    {
      name: "store: commit {consume 1, append 1}",
      unit: "ms",
      value: median(ours),
      floor: median(floor),
      floorName,
    },
    { name: "store: put", unit: "ms", value: median(put), floor: median(floor), floorName },
  ];
}

/**
 * Messages made durable one after the other, and by many at once, beside bare commits one after the other. What is in the
 * inboxes is consumed between the rounds, as by sessions that keep up.
 */
async function enqueued(dir: string, count: number): Promise<BenchRow[]> {
  const store = await openSqliteStore({ dir, clock: systemClock });
  const bare = bareDatabase(dir);
  const sessions = Array.from({ length: SESSIONS }, (_, i) => `default/s${i}`);
  const epochs = await Promise.all(sessions.map((session) => claim(store, session)));
  const put = async (session: string, id: string) => {
    const { status } = await store.put(session, { id, kind: "user", wake: true, body: RECORD });
    if (status !== "stored") throw new Error(`a message was not stored: ${status}`);
  };
  const consume = (ids: readonly string[]) =>
    Promise.all(
      sessions.map((session, i) =>
        store.commit({ session, epoch: epochs[i] ?? 0, ops: [{ op: "consume", ids: [...ids] }] })
      ),
    );
  const part = Math.ceil(count / ROUNDS);
  const idsOf = (round: string, many: number) => Array.from({ length: many }, (_, n) => `${round}.${n}`);
  const times = { one: 0, many: 0, raw: 0 };
  for (let round = -1; round < ROUNDS; round++) {
    const alone = idsOf(`alone${round}`, Math.ceil(part / SESSIONS));
    const together = idsOf(`together${round}`, part);
    const one = await took(async () => {
      for (const id of alone) for (const session of sessions) await put(session, id);
    });
    await consume(alone);
    const raw = await took(async () => {
      for (let n = 0; n < alone.length * SESSIONS; n++) bare.commit();
    });
    const many = await took(() =>
      Promise.all(sessions.map(async (session) => {
        for (const id of together) await put(session, id);
      }))
    );
    await consume(together);
    // The first round fills both -wal files, which do not grow any more then.
    if (round < 0) continue;
    times.one += one;
    times.raw += raw;
    times.many += many;
  }
  bare.close();
  await store.close();
  const aSecond = (commits: number, ms: number) => Math.round(commits / ms * 1000);
  const alone = ROUNDS * Math.ceil(part / SESSIONS) * SESSIONS;
  const floor = aSecond(alone, times.raw);
  const beside = { unit: "messages/s", floor, floorName: "commits one after the other" };
  return [
    {
      name: "store: durable enqueue, one after the other",
      value: aSecond(alone, times.one),
      ...beside,
      goal: { atLeastTimesFloor: 0.6 },
    },
    {
      name: `store: durable enqueue into ${SESSIONS} sessions at once`,
      value: aSecond(ROUNDS * part * SESSIONS, times.many),
      ...beside,
      goal: { atLeastTimesFloor: 5 },
    },
  ];
}

async function manySessions(dir: string, turns: number): Promise<BenchRow[]> {
  const sessions = Array.from({ length: SESSIONS }, (_, i) => `default/s${i}`);
  const store = await openSqliteStore({ dir, clock: systemClock });
  const epochs = await Promise.all(sessions.map((session) => claim(store, session)));
  const turn = async (session: string, epoch: number, id: string) => {
    const start: Op[] = [{ op: "consume", ids: [id] }, { op: "append", record: RECORD }];
    await store.commit({ session, epoch, ops: start });
    await store.commit({ session, epoch, ops: [{ op: "append", record: RECORD }] });
    await store.commit({ session, epoch, ops: [{ op: "append", record: RECORD }] });
  };
  let elapsed = 0;
  for (let n = 0; n < turns; n++) {
    const message = { id: `m${n}`, kind: "user", wake: true, body: RECORD };
    await Promise.all(sessions.map((session) => store.put(session, message)));
    elapsed += await took(() =>
      Promise.all(sessions.map((session, i) => turn(session, epochs[i] ?? 0, message.id)))
    );
  }
  const bare = bareDatabase(dir);
  const floorElapsed = await took(async () => {
    for (let i = 0; i < turns * 3; i++) bare.commit(sessions.length);
  });
  bare.close();
  await store.close();
  const count = sessions.length * turns * 3;
  return [{
    name: `store: ${SESSIONS} sessions, 3 commits a turn`,
    unit: "commits/s",
    value: Math.round(count / elapsed * 1000),
    floor: Math.round(count / floorElapsed * 1000),
    floorName: "64 inserts a transaction",
  }];
}

async function recovery(dir: string, count: number): Promise<BenchRow[]> {
  const session = "default/long";
  const filling = await openSqliteStore({ dir, clock: systemClock });
  const epoch = await claim(filling, session);
  const step = 1000;
  for (let done = 0; done < count; done += step) {
    const ops = Array.from(
      { length: Math.min(step, count - done) },
      (): Op => ({ op: "append", record: RECORD }),
    );
    await filling.commit({ session, epoch, ops });
  }
  await filling.close();

  let store = await openSqliteStore({ dir, clock: systemClock });
  const replay = await took(() => drain(store.records(session, 0)));
  const floor = await took(async () => bareScan(dir));
  const history = Array.from({ length: count }, (): JsonObject => RECORD);
  await store.commit({ session, epoch, ops: [{ op: "snapshot", body: RECORD, history }] });
  await store.commit({
    session,
    epoch,
    ops: Array.from({ length: 100 }, (): Op => ({ op: "append", record: RECORD })),
  });
  await store.close();

  store = await openSqliteStore({ dir, clock: systemClock });
  const resume = await took(async () => {
    const snapshot = await store.snapshot(session);
    await drain(store.records(session, snapshot?.uptoSeq ?? 0));
  });
  const readHistory = await took(() => drain(store.history(session)));
  const truncate = await took(() => store.truncate(session));
  await store.close();
  const floorName = "ordered scan and JSON.parse";
  return [
    { name: `store: replay of ${count} records`, unit: "ms", value: replay, floor, floorName },
    { name: "store: resume from a snapshot and 100 records", unit: "ms", value: resume },
    { name: `store: history of ${count} items`, unit: "ms", value: readHistory, floor, floorName },
    { name: `store: truncation of ${count} records`, unit: "ms", value: truncate },
  ];
}

async function claim(store: Store, session: string): Promise<number> {
  const claimed = await store.claim(session, OWNER, LEASE_MS);
  if (claimed.status !== "claimed") throw new Error(`${session} is held by ${claimed.owner}`);
  return claimed.epoch;
}

async function drain(batches: AsyncIterable<unknown[]>): Promise<number> {
  let count = 0;
  for await (const batch of batches) count += batch.length;
  return count;
}

function bareDatabase(dir: string): { commit(inserts?: number): void; close(): void } {
  const db = new DatabaseSync(join(dir, "bare.db"));
  db.exec(
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (n INTEGER PRIMARY KEY, body TEXT)",
  );
  const [begin, insert, commit] = [
    db.prepare("BEGIN IMMEDIATE"),
    db.prepare("INSERT INTO t (body) VALUES (?)"),
    db.prepare("COMMIT"),
  ];
  return {
    commit(inserts = 1) {
      begin.run();
      for (let i = 0; i < inserts; i++) insert.run(JSON.stringify(RECORD));
      commit.run();
    },
    close: () => db.close(),
  };
}

function bareScan(dir: string): number {
  const db = new DatabaseSync(join(dir, "reyn.db"), { readOnly: true });
  let count = 0;
  for (const row of db.prepare("SELECT record FROM wal ORDER BY pos").iterate()) {
    if (typeof row.record === "string" && JSON.parse(row.record)) count++;
  }
  db.close();
  return count;
}

async function took(what: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await what();
  return performance.now() - start;
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? 0;
}

async function inFolder<T>(fn: (dir: string) => Promise<T>): Promise<T> {
  const dir = await mkdtemp(join(tmpdir(), "reyn-store-bench-"));
  try {
    return await fn(dir);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  for (const { name, unit, value, floor, floorName } of await rows()) {
    const beside = floor === undefined
      ? ""
      : `  (${floorName}: ${floor.toPrecision(4)}, ratio ${(value / floor).toFixed(2)})`;
    console.log(`${name}: ${value.toPrecision(4)} ${unit}${beside}`);
  }
}
