import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  apply,
  emptyState,
  fromSnapshot,
  type SessionRecord,
  snapshotBody,
} from "../../src/session/state.ts";
import { OPEN_VALVE } from "../../src/session/valve.ts";
import type { HistoryMessage } from "../../src/session/messages.ts";

const message = (id: string, role: HistoryMessage["role"] = "user", turn = 1): HistoryMessage => ({
  id,
  role,
  text: id,
  turn,
});

const start = (turn: number, messages: HistoryMessage[], about = messages.length - 1): SessionRecord => ({
  t: "turn_started",
  at: 0,
  turn,
  kind: "user",
  chain: null,
  valve: "reset",
  messages,
  about,
});
const end = (turn: number, status: "ok" | "error" | "interrupted", retry = false): SessionRecord => ({
  t: "turn_ended",
  at: 0,
  turn,
  status,
  retry,
});

describe("session state", () => {
  it("puts what turn_start adds before the message that the turn is about", () => {
    const state = emptyState();
    apply(state, start(1, [message("passive", "system"), message("human")]));
    apply(state, { t: "context", turn: 1, messages: [message("pushed", "system")] });
    assert.deepEqual(state.history.map((one) => one.id), ["passive", "pushed", "human"]);
  });

  it("never touches or replaces a message object that is in the history", () => {
    const state = emptyState();
    apply(state, start(1, [message("human")]));
    apply(state, { t: "step", turn: 1, step: 1, messages: [message("reply", "assistant")] });
    apply(state, end(1, "ok"));
    const before = [...state.history];
    const copies = structuredClone(before);
    apply(state, start(2, [message("hook", "system", 2), message("again", "user", 2)]));
    apply(state, { t: "context", turn: 2, messages: [message("pushed", "system", 2)] });
    before.forEach((object, index) => assert.equal(state.history[index], object));
    assert.deepEqual(before, copies);
  });

  it("keeps an interrupted turn for a retry and takes it up once", () => {
    const state = emptyState();
    apply(state, start(1, [message("human")]));
    apply(state, end(1, "interrupted", true));
    assert.equal(state.retry?.userText, "human");
    apply(state, { t: "turn_retried", at: 0, turn: 2, of: 1, messages: [message("rides", "system", 2)] });
    assert.equal(state.retry, null);
    assert.equal(state.current?.turn, 2);
    assert.deepEqual(state.history.map((one) => one.id), ["rides", "human"]);
  });

  it("counts failed turns in a row and forgets them with a good one", () => {
    const state = emptyState();
    for (const turn of [1, 2]) {
      apply(state, start(turn, [message(`m${turn}`)]));
      apply(state, end(turn, "error"));
    }
    assert.equal(state.errors, 2);
    apply(state, start(3, [message("m3")]));
    apply(state, end(3, "ok"));
    assert.equal(state.errors, 0);
  });

  it("counts turns from inside and closes once", () => {
    const state = emptyState();
    apply(state, start(1, [message("human")]));
    apply(state, { ...start(2, [message("wake", "system")]), valve: "count" } as SessionRecord);
    apply(state, { t: "valve_closed", at: 0 });
    assert.deepEqual(state.valve, { ...OPEN_VALVE, count: 1, closed: true });
    apply(state, start(3, [message("human2")]));
    assert.deepEqual(state.valve, OPEN_VALVE);
  });

  it("comes back from a snapshot as it was, history aside", () => {
    const state = emptyState();
    apply(state, { t: "opened", at: 0 });
    apply(state, start(1, [message("human")]));
    apply(state, end(1, "interrupted", true));
    const body = JSON.parse(JSON.stringify(snapshotBody(state)));
    assert.deepEqual(fromSnapshot(body), { ...state, history: [] });
  });
});
