import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Store } from "../../src/store/store.ts";
import { CRASH_SESSIONS, ended, open, runScript, tempState } from "./support.ts";

/** What the killed processes said was acknowledged, over all runs on one folder. */
interface Told {
  walSeq: Map<string, number>;
  /** `session id` of every message put and of every turn committed. */
  puts: Set<string>;
  turns: Set<string>;
}

const KILL_POINTS = [
  "store:before_commit",
  "store:in_transaction",
  "store:after_commit",
  "store:in_truncate",
  "store:in_forget",
] as const;

describe("a store whose process is killed", () => {
  let dir = "";
  let remove = async () => {};
  const told: Told = { walSeq: new Map(), puts: new Set(), turns: new Set() };

  before(async () => {
    ({ dir, remove } = await tempState());
  });
  after(() => remove());

  const check = async () => {
    const store = await open(dir);
    try {
      for (const session of CRASH_SESSIONS) await checkSession(store, session, told);
    } finally {
      await store.close();
    }
  };

  for (const label of KILL_POINTS) {
    for (const count of label === "store:in_truncate" || label === "store:in_forget" ? [1, 3] : [1, 5, 40]) {
      it(`has all that was acknowledged and nothing by half, killed at ${label} number ${count}`, async () => {
        const { lines, signal } = await ended(runScript("crash_child.ts", dir, label, String(count)));
        assert.equal(signal, "SIGKILL");
        note(told, lines);
        await check();
      });
    }
  }

  for (const delay of [0, 1, 3, 7, 15, 30, 60, 100, 150]) {
    it(`… killed from outside, ${delay} ms after it began to write`, async () => {
      const child = runScript("crash_child.ts", dir);
      child.stdout?.once("data", () => setTimeout(() => child.kill("SIGKILL"), delay));
      const { lines, signal } = await ended(child);
      assert.equal(signal, "SIGKILL");
      assert.ok(lines.length > 0);
      note(told, lines);
      await check();
    });
  }

  it("took up more turns than the kills interrupted", () => {
    assert.ok(told.turns.size > 100, `${told.turns.size} turns`);
  });
});

function note(told: Told, lines: string[]): void {
  for (const line of lines) {
    const [what, session = "", ...rest] = line.split(" ");
    if (what === "put") told.puts.add(`${session} ${rest[0]}`);
    if (what === "commit") {
      told.walSeq.set(session, Math.max(told.walSeq.get(session) ?? 0, Number(rest[0])));
      told.turns.add(`${session} ${rest[1]}`);
    }
  }
}

async function checkSession(store: Store, session: string, told: Told): Promise<void> {
  const row = await store.session(session);
  const walSeq = row?.walSeq ?? 0;
  const acknowledged = told.walSeq.get(session) ?? 0;
  assert.ok(
    walSeq >= acknowledged,
    `${session}: record ${acknowledged} was acknowledged, ${walSeq} is the last`,
  );

  const parts: string[] = [];
  let first: number | undefined;
  let previous = 0;
  for await (const batch of store.records(session, 0)) {
    for (const { seq, record } of batch) {
      first ??= seq;
      assert.ok(previous === 0 || seq === previous + 1, `${session}: ${seq} follows ${previous}`);
      previous = seq;
      parts.push(typeof record.part === "string" ? record.part : "");
    }
  }
  const upto = (await store.snapshot(session))?.uptoSeq ?? 0;
  assert.ok(
    (first ?? walSeq + 1) <= upto + 1,
    `${session}: records begin at ${first}, the snapshot ends at ${upto}`,
  );
  assert.ok(previous === walSeq || (previous === 0 && upto === walSeq));
  assert.equal(
    parts.filter((part) => part.endsWith("/1")).length,
    parts.filter((part) => part.endsWith("/2")).length,
  );

  const pending = new Set((await store.pending(session, 100_000)).map(({ id }) => id));
  assert.equal(pending.size, (row?.waking ?? 0) + (row?.passive ?? 0));
  const next =
    CRASH_SESSIONS[(CRASH_SESSIONS.findIndex((name) => name === session) + 1) % CRASH_SESSIONS.length] ?? "";
  const arrived = new Set((await store.pending(next, 100_000)).map(({ id }) => id));
  const done = (id: string) => arrived.has(`from-${session}-${id}`);
  for (const turn of told.turns) {
    const [name, id = ""] = turn.split(" ");
    if (name === session) assert.ok(!pending.has(id) && done(id), `${turn} was committed`);
  }
  for (const put of told.puts) {
    const [name, id = ""] = put.split(" ");
    if (name === session) assert.ok(pending.has(id) !== done(id), `${put} is either pending or done`);
  }
  for (const part of parts) assert.ok(done(part.split("/")[0] ?? ""), `${session}: ${part} and its message`);
}
