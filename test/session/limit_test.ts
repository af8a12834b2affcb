import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { systemClock } from "../../src/clock/clock.ts";
import { createInterventions, type Interventions } from "../../src/interventions/interventions.ts";
import type { Question } from "../../src/interventions/question.ts";
import { questionStore } from "../../src/runtime/interventions.ts";
import { humanMessage } from "../../src/session/messages.ts";
import type { Session } from "../../src/session/session.ts";
import { pushHook, type World, world } from "./harness.ts";

describe("on_limit: ask_user", () => {
  let here: World;
  let queue: Interventions;
  let asked: Question[];
  const again = pushHook("turn_end", "again");
  beforeEach(async () => {
    here = await world();
    asked = [];
    start();
  });
  afterEach(() => here.end());

  const start = () => {
    queue = createInterventions({ store: questionStore(here.store), clock: systemClock, record: () => {} });
  };
  /** A surface that gives these answers, in order, and then none. */
  const answering = (...answers: string[]) =>
    queue.attach({
      name: "chat",
      rank: "listener",
      show({ question }) {
        asked.push(question);
        const answer = answers.shift();
        if (answer !== undefined) void queue.answer(question.id, answer, "chat");
        return () => {};
      },
    });
  const open = () =>
    here.open({ hooks: [again], settings: { cap: 2, onLimit: "ask_user" }, interventions: queue });
  const run = async (...messages: string[]): Promise<Session> => {
    const session = await open();
    for (const text of messages) await session.accept(humanMessage(text, text));
    await session.run({ untilIdle: true });
    await session.close();
    return session;
  };

  it("asks once for each closing, and a yes is worth one more cap", async () => {
    answering("y", "y", "n");
    const session = await run("hello");
    assert.equal(session.state.turns, 7);
    assert.deepEqual(session.state.valve, { count: 6, closed: true, extensions: 2, question: null });
    assert.deepEqual(asked.map(({ id }) => id), [
      "valve:default/main/3",
      "valve:default/main/5",
      "valve:default/main/7",
    ]);
    assert.deepEqual(await queue.list(), []);
    assert.deepEqual((await here.store.pending("default/main", 10)).map(({ wake }) => wake), [false]);
  });

  it("shows what the agent said last as the agent's", async () => {
    answering("n");
    await run("hello");
    const said = asked[0]?.lines.filter(({ from }) => from === "agent").map(({ text }) => text);
    assert.deepEqual(said, ["echo: [hook:turn_end] again"]);
  });

  it("is as warn where nobody is there, and asks nothing then", async () => {
    const session = await run("hello");
    assert.deepEqual(session.state.valve, { count: 2, closed: true, extensions: 0, question: null });
    assert.deepEqual(await here.store.questions(), []);
  });

  it("keeps its question when its surface leaves, and has an answer that came while it was not running", async () => {
    const session = await open();
    await session.accept(humanMessage("m", "hello"));
    const leave = answering();
    const running = session.run({ untilIdle: true });
    while (asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 2));
    leave();
    await running;
    await session.close();
    assert.equal(session.state.valve.question, "valve:default/main/3");
    await here.crash();
    start();
    assert.deepEqual((await queue.list()).map(({ question }) => question.id), ["valve:default/main/3"]);
    assert.equal(await queue.answer("valve:default/main/3", "y", "http:ci"), "taken");
    const next = await run();
    assert.equal(next.state.turns, 5);
    assert.deepEqual(next.state.valve.extensions, 1);
    assert.deepEqual(asked.length, 1);
  });

  it("withdraws its question when a person writes", async () => {
    const session = await open();
    await session.accept(humanMessage("m", "hello"));
    answering();
    const running = session.run({ untilIdle: true });
    while (asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 2));
    await session.accept(humanMessage("n", "stop that"));
    while (asked.length === 1) await new Promise((resolve) => setTimeout(resolve, 2));
    assert.deepEqual((await here.store.questions()).map(({ id }) => id), [asked[1]?.id]);
    session.stop();
    await running;
    assert.equal(await queue.answer("valve:default/main/3", "y", "late"), "answered");
  });
});
