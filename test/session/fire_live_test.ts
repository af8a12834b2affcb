import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { pushHook, type World, world } from "./harness.ts";

describe("a point fired by hand in a live session", () => {
  let harness: World;
  beforeEach(async () => {
    harness = await world();
  });
  afterEach(() => harness.end());

  const fired = (id: string, user_text: string) => ({
    key: "turn_end",
    kind: "builtin:lifecycle:turn_end",
    id,
    payload: { point: "turn_end", agent_name: "default", status: "ok", user_text },
  });

  it("tells of its own hooks alone, and has their pushes in the inbox when it is done", async () => {
    const session = await harness.open({
      hooks: [pushHook("turn_end", "after {{ user_text }}", { name: "h", wake: false })],
    });
    const told = async (id: string) => {
      const records: unknown[] = [];
      const pushes: string[] = [];
      await session.fire(fired(id, id), {
        record: (type, data) => records.push([type, data["verdicts"] ?? data["hook_name"]]),
        observe: (event) => event.type === "push" && pushes.push(event.push.text),
      });
      return { records, pushes };
    };
    const [one, two] = await Promise.all([told("one"), told("two")]);
    const all = [["hook_push_fired", "h"], ["hooks_evaluated", { h: "pushed" }]];
    assert.deepEqual([one.records, two.records], [all, all]);
    assert.deepEqual([one.pushes, two.pushes], [["after one"], ["after two"]]);
    const inbox = await harness.store.pending("default/main", 10);
    assert.deepEqual(inbox.map(({ id }) => id), ["one/startup:h", "two/startup:h"]);
    const evaluated = harness.audit.events.filter(({ type }) => type === "hooks_evaluated");
    assert.equal(evaluated.length, 2, "the log has it all the same");
    await session.close();
  });

  it("is done at once where no hook is at the point", async () => {
    const session = await harness.open();
    const records: string[] = [];
    await session.fire(fired("x", "x"), { record: (type) => records.push(type), observe() {} });
    assert.deepEqual(records, []);
    await session.close();
  });
});
