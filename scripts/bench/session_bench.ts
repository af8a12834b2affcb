import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { openAudit } from "../../src/audit/writer.ts";
import { systemClock } from "../../src/clock/clock.ts";
import { randomIds } from "../../src/clock/ids.ts";
import { createDispatcher } from "../../src/hooks/dispatcher.ts";
import { NO_HOOKS } from "../../src/hooks/registry.ts";
import { echoModel } from "../../src/model/echo.ts";
import { olderHistory, recover } from "../../src/session/journal.ts";
import { humanMessage } from "../../src/session/messages.ts";
import { openSession, type Session } from "../../src/session/session.ts";
import { apply, emptyState, type SessionRecord, snapshotBody } from "../../src/session/state.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import type { JsonObject, Op, Store } from "../../src/store/store.ts";
import type { BenchRow } from "../lib/bench_table.ts";

const LONE_TURNS = 400;
const SESSIONS = 64;
const TURNS_EACH = 100;
const RECORDS = 1_000_000;
const RECORDS_A_TURN = 3;

/** What a durable turn costs beside the commits that it cannot do without, and what recovery of a long session costs. */
export async function rows(): Promise<BenchRow[]> {
  return [
    ...(await inFolder(manySessions)),
    ...(await inFolder(loneTurns)),
    ...(await inFolder((dir) => recovery(dir, false))),
    ...(await inFolder((dir) => recovery(dir, true))),
  ];
}

async function inFolder(run: (dir: string) => Promise<BenchRow[]>): Promise<BenchRow[]> {
  const dir = await mkdtemp(join(tmpdir(), "reyn-bench-"));
  try {
    return await run(dir);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** A session as `reyn run` opens it: real store, real audit log, no hooks, a model that answers at once. */
function open(store: Store, audit: ReturnType<typeof openAudit>, sid: string): Promise<Session> {
  return openSession({
    owner: "bench",
    runtime: "bench",
    leaseMs: 3_600_000,
    settings: { agent: "default", sid, cap: 25, onLimit: "warn", resetOn: [], resume: "retry" },
    ports: {
      store,
      clock: systemClock,
      audit,
      model: echoModel(),
      observe: () => {},
      routed: () => {},
      wanted: () => {},
      fault: () => {},
    },
    hooks: (deliver) =>
      createDispatcher(NO_HOOKS, {
        session: `default/${sid}`,
        audit,
        clock: systemClock,
        route: () => ({ to: "own" }),
        deliver,
        exec: null,
        switchedOff: () => false,
      }),
  });
}

function logIn(dir: string) {
  return openAudit({ dir: join(dir, "events"), clock: systemClock, ids: randomIds(), pid: process.pid });
}

async function loneTurns(dir: string): Promise<BenchRow[]> {
  const store = await openSqliteStore({ dir, clock: systemClock });
  const audit = logIn(dir);
  const session = await open(store, audit, "lone");
  const bare = rawCommits(dir);
  const turns: number[] = [];
  const floors: number[] = [];
  for (let turn = 0; turn < LONE_TURNS + 50; turn++) {
    await session.accept(humanMessage(`m${turn}`, "Is anything left to do?"));
    const start = performance.now();
    await session.run({ untilIdle: true });
    const middle = performance.now();
    // One model step: consume and begin, the step, the end.
    for (let commit = 0; commit < 3; commit++) bare.commit();
    if (turn < 50) continue;
    turns.push(middle - start);
    floors.push(performance.now() - middle);
  }
  bare.close();
  await session.close();
  await store.close();
  await audit.close();
  return [{
    name: "turn: durable, instant model, one step",
    unit: "ms",
    value: median(turns),
    floor: median(floors),
    floorName: "3 raw commits",
    goal: { timesFloor: 1.2 },
  }];
}

async function manySessions(dir: string): Promise<BenchRow[]> {
  const store = await openSqliteStore({ dir, clock: systemClock });
  const audit = logIn(dir);
  const sessions = await Promise.all(
    Array.from({ length: SESSIONS }, (_, index) => open(store, audit, `s${index}`)),
  );
  await Promise.all(sessions.map(async (session) => {
    for (let turn = 0; turn < TURNS_EACH; turn++) {
      await session.accept(humanMessage(`m${turn}`, "Is anything left to do?"));
    }
  }));
  const start = performance.now();
  await Promise.all(sessions.map((session) => session.run({ untilIdle: true })));
  const elapsed = performance.now() - start;
  for (const session of sessions) await session.close();
  await store.close();
  await audit.close();
  const bare = rawCommits(dir);
  const floorStart = performance.now();
  for (let round = 0; round < TURNS_EACH * 3; round++) bare.commit(SESSIONS);
  const floorElapsed = performance.now() - floorStart;
  bare.close();
  const perSecond = (ms: number) => (SESSIONS * TURNS_EACH * 1000) / ms;
  return [{
    name: `turns of ${SESSIONS} sessions at once`,
    unit: "turns/s",
    value: perSecond(elapsed),
    floor: perSecond(floorElapsed),
    floorName: `transactions of ${SESSIONS} inserts`,
    goal: { atLeast: 8000 },
  }];
}

/** Writes a session of a million records the quick way, with or without a snapshot at its end, and recovers it. */
async function recovery(dir: string, withSnapshot: boolean): Promise<BenchRow[]> {
  const filling = await openSqliteStore({ dir, clock: systemClock });
  const session = "default/long";
  const claim = await filling.claim(session, "bench", 3_600_000);
  if (claim.status !== "claimed") throw new Error("the bench's own session is held");
  const state = emptyState();
  let kept = 0;
  const turnsAtOnce = 500;
  for (let turn = 1; turn * RECORDS_A_TURN <= RECORDS; turn += turnsAtOnce) {
    const records = Array.from({ length: turnsAtOnce }, (_, index) => turnRecords(turn + index)).flat();
    const ops: Op[] = records.map((record) => ({ op: "append", record: record as unknown as JsonObject }));
    if (withSnapshot) {
      for (const record of records) apply(state, record);
      const history = state.history.slice(kept) as unknown as JsonObject[];
      kept = state.history.length;
      ops.push({ op: "snapshot", body: snapshotBody(state), history });
    }
    await filling.commit({ session, epoch: claim.epoch, ops });
  }
  await filling.close();
  const store = await openSqliteStore({ dir, clock: systemClock });
  const start = performance.now();
  const recovered = await recover(store, session);
  const elapsed = performance.now() - start;
  const older = await olderHistory(store, session);
  const withHistory = performance.now() - start;
  if (recovered.state.history.length + older.length < RECORDS / 2) {
    throw new Error("less came back than was written");
  }
  await store.close();
  const history: BenchRow = {
    name: "  the same, and its whole conversation read",
    unit: "s",
    value: withHistory / 1000,
  };
  const row: BenchRow = {
    name: `recovery of ${RECORDS.toLocaleString("en-US")} records ${
      withSnapshot ? "with" : "without"
    } a snapshot`,
    unit: "s",
    value: elapsed / 1000,
    goal: { atMost: withSnapshot ? 1 : 5 },
  };
  return withSnapshot ? [row, history] : [row];
}

function turnRecords(turn: number): SessionRecord[] {
  const message = (id: string, role: "user" | "assistant", text: string) => ({ id, role, text, turn });
  return [
    {
      t: "turn_started",
      at: 1_700_000_000_000,
      turn,
      kind: "user",
      chain: null,
      valve: "reset",
      messages: [message(`m${turn}`, "user", "Is anything left to do?")],
      about: 0,
    },
    { t: "step", turn, step: 1, messages: [message(`s${turn}`, "assistant", "Nothing is left to do.")] },
    { t: "turn_ended", at: 1_700_000_000_000, turn, status: "ok", retry: false },
  ];
}

function rawCommits(dir: string) {
  const database = new DatabaseSync(join(dir, "bare.db"));
  database.exec(
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT)",
  );
  const begin = database.prepare("BEGIN IMMEDIATE");
  const insert = database.prepare("INSERT INTO t(b) VALUES (?)");
  const commit = database.prepare("COMMIT");
  const text = "x".repeat(230);
  return {
    commit(inserts = 1) {
      begin.run();
      for (let index = 0; index < inserts; index++) insert.run(text);
      commit.run();
    },
    close: () => database.close(),
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}
