import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { check } from "../../scripts/chaos/lib/check.ts";
import { createLedger, type Ledger } from "../../scripts/chaos/lib/ledger.ts";
import { type Ended, misbehaviour } from "../../scripts/chaos/lib/process.ts";
import { createRandom } from "../../scripts/chaos/lib/random.ts";
import type { Stored, StoredRecord, StoredSession } from "../../scripts/chaos/lib/stored.ts";
import type { Flavour } from "../../scripts/chaos/lib/world.ts";

const FLAVOUR: Flavour = { model: "echo", resume: "retry", onLimit: "warn", cap: 2 };
const ID = "default/s";
const END_PUSH = `${ID}/1/turn_end/startup:after`;

describe("the check of a store against what was acknowledged", () => {
  it("finds nothing wrong with a turn that ran as shown", () => {
    assert.deepEqual(found(), []);
  });

  it("finds an acknowledged message that is lost, twice there, or was never sent", () => {
    const lost = ledger();
    lost.sent.push({ session: ID, text: "another", fate: "acknowledged" });
    assert.match(only(found({}, lost)), /"another" was acknowledged and is lost/);

    const twice = { ...message("m2", "user", "hello", 1) };
    assert.ok(
      found({ change: (records) => records[1]?.messages?.push(twice) }).some((one) =>
        /is there 2 times/.test(one)
      ),
    );

    const refused = ledger();
    for (const sent of refused.sent) sent.fate = "refused";
    assert.match(only(found({}, refused)), /was refused and is there/);

    const unsent = ledger();
    unsent.sent.length = 0;
    assert.match(only(found({}, unsent)), /was never sent/);
  });

  it("finds what was shown and is not stored", () => {
    const shown = ledger();
    shown.record(ID, ran(`{"type":"reply","turn":1,"message":{"id":"r9","text":"gone"}}\n`));
    assert.match(only(found({}, shown)), /r9 was shown and is lost/);

    const ended = ledger();
    ended.record(
      ID,
      ran(`{"type":"push","id":"${ID}/p"}\n{"type":"turn_ended","turn":1,"status":"error"}\n`),
    );
    assert.deepEqual(found({}, ended).map((one) => one.replace(`${ID}: `, "")), [
      "turn 1 was shown as ended error, stored: ok",
      `push ${ID}/p was shown and is lost`,
    ]);
  });

  it("does not count a line that a kill cut off", () => {
    const cut = ledger();
    cut.record(ID, ran(`{"type":"reply","turn":1,"message":{"id":"r9","text":"gone"}}`));
    assert.deepEqual(found({}, cut), []);
  });

  it("finds gaps: in the WAL, in the turns, in the steps, and a turn without an end", () => {
    const gap = (change: (records: StoredRecord[]) => void) => found({ change }).join("\n");
    assert.match(found({ walSeq: 9 }).join("\n"), /the WAL ends at 4, its session says 9/);
    assert.match(gap((records) => Object.assign(records[1] ?? {}, { turn: 2 })), /turn 2 follows turn 0/);
    assert.match(gap((records) => Object.assign(records[2] ?? {}, { step: 2 })), /step 2 follows step 0/);
    assert.match(gap((records) => void records.pop()), /turn 1 has no end/);
    assert.match(gap((records) => void records.splice(2, 1)), /ended ok without a reply/);
  });

  it("finds a push that is missing, or accepted and nowhere", () => {
    assert.match(only(found({ accepted: ["m1"], inbox: [] })), /without the push of its turn_end/);
    assert.match(found({ inbox: [] }).join("\n"), /was accepted and is nowhere/);
    assert.match(found({ accepted: ["m1", "m1", END_PUSH] }).join("\n"), /m1 is accepted twice/);
  });

  it("finds more turns from inside than the cap allows", () => {
    const hook = (turn: number): StoredRecord[] => [
      { t: "turn_started", turn, kind: "hook", valve: "count", messages: [], about: 0 },
      { t: "turn_ended", turn, status: "error", retry: false },
    ];
    const change = (records: StoredRecord[]) => void records.push(...hook(2), ...hook(3), ...hook(4));
    assert.match(found({ change }).join("\n"), /turn 4 is number 3 from inside, cap 2/);
  });
});

describe("what a run may never show", () => {
  it("is a stack trace, a fault of its own, a strange signal, a hang, or an exit without a code", () => {
    for (
      const bad of [
        { code: 1, stderr: "boom\n    at run (file.ts:3:4)\n" },
        { code: 1, stderr: "E_INTERNAL x" },
        { code: null, signal: "SIGBUS" },
        { code: null, signal: "SIGKILL", hung: true },
        { code: 1, stderr: "something" },
      ]
    ) assert.ok(misbehaviour({ ...ran(""), ...bad }), JSON.stringify(bad));
    assert.equal(misbehaviour({ ...ran(""), code: 1, stderr: "E_STATE_FULL /x: full" }), undefined);
    assert.equal(misbehaviour({ ...ran(""), code: null, signal: "SIGKILL" }), undefined);
  });
});

describe("random choices", () => {
  it("repeat with their seed, and parts are independent", () => {
    const numbers = (seed: number, part: number) => {
      const random = createRandom(seed).fork(part);
      return Array.from({ length: 5 }, () => random.below(1000)).join();
    };
    assert.equal(numbers(1, 1), numbers(1, 1));
    assert.equal(new Set([numbers(1, 1), numbers(1, 2), numbers(2, 1), numbers(2, 2)]).size, 4);
  });
});

interface Change extends Partial<Omit<StoredSession, "records">> {
  change?: (records: StoredRecord[]) => void;
}

/** What is found in a session of one turn, changed as given. */
function found({ change, ...more }: Change = {}, known = ledger()): string[] {
  const records: StoredRecord[] = [
    { t: "opened" },
    {
      t: "turn_started",
      turn: 1,
      kind: "user",
      valve: "reset",
      messages: [message("m1", "user", "hello", 1)],
      about: 0,
    },
    { t: "step", turn: 1, step: 1, messages: [message("r1", "assistant", "echo", 1)] },
    { t: "turn_ended", turn: 1, status: "ok", retry: false },
  ];
  change?.(records);
  const inbox = more.inbox ?? [{ id: END_PUSH, kind: "hook", wake: 0, bytes: 10, text: "ended" }];
  const stored: Stored = {
    integrity: "ok",
    sessions: [{
      id: ID,
      walSeq: records.length,
      waking: 0,
      passive: inbox.length,
      bytes: inbox.length * 10,
      accepted: ["m1", END_PUSH],
      snapshot: undefined,
      kept: [],
      ...more,
      inbox,
      records: records.map((record, index) => ({ seq: index + 1, record })),
    }],
  };
  return check(stored, known, { flavour: FLAVOUR, settled: true });
}

function ledger(): Ledger {
  const made = createLedger();
  const started = { type: "turn_started", turn: 1, messages: [message("m1", "user", "hello", 1)] };
  const reply = { type: "reply", turn: 1, message: message("r1", "assistant", "echo", 1) };
  const ended = { type: "turn_ended", turn: 1, status: "ok" };
  made.record(ID, ran([started, reply, ended].map((line) => `${JSON.stringify(line)}\n`).join("")), "hello");
  return made;
}

function message(id: string, role: string, text: string, turn: number) {
  return { id, role, text, turn };
}

function ran(stdout: string): Ended {
  return { args: [], code: null, signal: "SIGKILL", stdout, stderr: "", ms: 1, hung: false };
}

function only(violations: string[]): string {
  assert.equal(violations.length, 1, violations.join("\n"));
  return violations[0] ?? "";
}
