import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { planTurn } from "../../src/session/plan_turn.ts";
import { OPEN_VALVE } from "../../src/session/valve.ts";
import type { InboxRow } from "../../src/store/store.ts";

let seq = 0;
const row = (id: string, kind: string, wake = true): InboxRow => ({
  id,
  kind,
  wake,
  body: { text: id },
  seq: ++seq,
});
const ids = (rows: readonly InboxRow[]) => rows.map((one) => one.id);

const valve = (count: number, closed: boolean) => ({ ...OPEN_VALVE, count, closed });

describe("planTurn()", () => {
  it("is idle with an empty inbox", () => {
    assert.deepEqual(planTurn([], OPEN_VALVE, 25), { next: "idle" });
  });

  it("does not start a turn for passive messages, however many", () => {
    assert.deepEqual(planTurn([row("a", "hook", false), row("b", "user", false)], OPEN_VALVE, 25), {
      next: "idle",
    });
  });

  it("makes a human message its own turn, with passive messages and hook wakes before it", () => {
    const plan = planTurn(
      [row("wake1", "hook"), row("passive", "hook", false), row("human", "user"), row("wake2", "hook")],
      OPEN_VALVE,
      25,
    );
    assert.equal(plan.next, "turn");
    if (plan.next !== "turn") return;
    assert.equal(plan.trigger.id, "human");
    assert.equal(plan.driven, false);
    assert.deepEqual(ids(plan.context), ["passive", "wake1", "wake2"]);
    assert.deepEqual(plan.alongside, []);
  });

  it("leaves the second human message for the next turn", () => {
    const plan = planTurn([row("one", "user"), row("two", "user")], OPEN_VALVE, 25);
    assert.equal(plan.next === "turn" && plan.trigger.id, "one");
    assert.deepEqual(plan.next === "turn" && ids([...plan.context, ...plan.alongside]), []);
  });

  it("makes one turn of several hook wakes", () => {
    const plan = planTurn([row("a", "hook"), row("p", "hook", false), row("b", "hook")], OPEN_VALVE, 25);
    assert.equal(plan.next, "turn");
    if (plan.next !== "turn") return;
    assert.equal(plan.driven, true);
    assert.deepEqual([ids(plan.context), plan.trigger.id, ids(plan.alongside)], [["p"], "a", ["b"]]);
  });

  it("holds hook wakes back at the cap", () => {
    const plan = planTurn([row("a", "hook"), row("p", "hook", false)], valve(3, false), 3);
    assert.equal(plan.next, "limit");
    assert.deepEqual(plan.next === "limit" && ids(plan.held), ["a"]);
  });

  it("lets a human through a closed valve, and the wakes ride along", () => {
    const plan = planTurn([row("a", "hook"), row("human", "user")], valve(3, true), 3);
    assert.equal(plan.next === "turn" && plan.trigger.id, "human");
    assert.deepEqual(plan.next === "turn" && ids(plan.context), ["a"]);
  });

  it("lets a cron message through a closed valve without counting it as driven", () => {
    const plan = planTurn(
      [row("result", "pipeline_result"), row("tick", "cron")],
      valve(3, true),
      3,
    );
    assert.equal(plan.next === "turn" && plan.trigger.id, "tick");
    assert.equal(plan.next === "turn" && plan.driven, false);
  });

  it("holds a pipeline result back at the cap too", () => {
    const plan = planTurn([row("result", "pipeline_result"), row("wake", "hook")], valve(1, false), 1);
    assert.deepEqual(plan.next === "limit" && ids(plan.held), ["result", "wake"]);
  });

  it("never closes with cap 0", () => {
    const plan = planTurn([row("a", "hook")], valve(1_000_000, false), 0);
    assert.equal(plan.next, "turn");
  });
});
