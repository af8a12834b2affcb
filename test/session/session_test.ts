import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { ReynError } from "../../src/errors/reyn_error.ts";
import type { Model } from "../../src/model/model.ts";
import { humanMessage } from "../../src/session/messages.ts";
import { OPEN_VALVE } from "../../src/session/valve.ts";
import { pushHook, texts, type World, world } from "./harness.ts";

/** A model whose steps are given, in order; past them it says `done`. */
function steps(...replies: (string | Error | (() => Promise<string>))[]): Model {
  let next = 0;
  return {
    provider: "steps",
    async *step(_request, signal) {
      const reply = replies[next++] ?? "done";
      if (reply instanceof Error) throw reply;
      const text = typeof reply === "string" ? reply : await reply();
      signal.throwIfAborted();
      yield { type: "text", text };
    },
    close: () => Promise.resolve(),
  };
}

describe("a session", () => {
  let here: World;
  beforeEach(async () => {
    here = await world();
  });
  afterEach(() => here.end());

  const run = async (options: Parameters<World["open"]>[0], ...messages: string[]) => {
    const session = await here.open(options);
    for (const [index, text] of messages.entries()) await session.accept(humanMessage(`m${index}`, text));
    await session.run({ untilIdle: true });
    await session.close();
    return session;
  };

  it("answers each human message in a turn of its own", async () => {
    const session = await run({}, "one", "two");
    assert.deepEqual(texts(session), ["one", "echo: one", "two", "echo: two"]);
    assert.equal(session.state.turns, 2);
  });

  it("takes the same message once", async () => {
    const session = await here.open();
    assert.equal(await session.accept(humanMessage("m", "hello")), "stored");
    assert.equal(await session.accept(humanMessage("m", "hello")), "duplicate");
    await session.run({ untilIdle: true });
    assert.equal(await session.accept(humanMessage("m", "hello")), "duplicate");
    await session.run({ untilIdle: true });
    assert.equal(session.state.turns, 1);
  });

  it("finishes session_start hooks before its first turn, and has their context in it", async () => {
    const session = await run({ hooks: [pushHook("session_start", "ctx", { wake: false })] }, "hi");
    assert.deepEqual(texts(session), ["[hook:session_start] ctx", "hi", "echo: hi"]);
  });

  it("runs a turn for a waking push of session_start even if nobody writes", async () => {
    const session = await run({ hooks: [pushHook("session_start", "go", { name: "starter" })] });
    assert.deepEqual(texts(session), ["[hook:starter] go", "echo: [hook:starter] go"]);
    assert.equal(session.state.valve.count, 1);
  });

  it("puts a passive push of turn_start into that same turn, before the message", async () => {
    const session = await run({ hooks: [pushHook("turn_start", "now {{ kind }}", { wake: false })] }, "hi");
    assert.deepEqual(texts(session), ["[hook:turn_start] now user", "hi", "echo: hi"]);
  });

  it("goes on by itself until the valve closes, once, and the wake waits for a person", async () => {
    const hooks = [pushHook("turn_end", "again {{ hook_driven_turns }}")];
    const session = await run({ hooks, settings: { cap: 3 } }, "hi");
    assert.equal(session.state.turns, 4);
    assert.deepEqual(session.state.valve, { ...OPEN_VALVE, count: 3, closed: true });
    assert.equal(here.audit.events.filter((event) => event.type === "safety_limit_checkpoint").length, 1);
    const [waiting] = await here.store.pending("default/main", 10);
    assert.deepEqual([waiting?.wake, waiting?.body["text"]], [false, "[hook:turn_end] again 3"]);
  });

  it("opens the valve again for a person, whose turn carries what waited", async () => {
    const hooks = [pushHook("turn_end", "again")];
    await run({ hooks, settings: { cap: 1 } }, "hi");
    const session = await here.open({ hooks, settings: { cap: 1 } });
    await session.accept(humanMessage("later", "back"));
    await session.run({ untilIdle: true });
    const third = session.state.history.filter((message) => message.turn === 3).map((message) =>
      message.text
    );
    assert.deepEqual(third, ["[hook:turn_end] again", "back", "echo: back"]);
    assert.equal(session.state.turns, 4);
  });

  it("drops waking pushes over the cap with on_limit abort, and says which", async () => {
    const hooks = [pushHook("turn_end", "again", { name: "loop" })];
    const session = await run({ hooks, settings: { cap: 1, onLimit: "abort" } }, "hi");
    assert.equal(session.state.turns, 2);
    assert.deepEqual(await here.store.pending("default/main", 10), []);
    const dropped = here.audit.events.find((event) => event.type === "inbox_dropped");
    assert.deepEqual(dropped?.data["ids"], ["default/main/2/turn_end/startup:loop"]);
  });

  it("makes one turn of several wakes of one batch", async () => {
    const hooks = [pushHook("turn_end", "a", { index: 0 }), pushHook("turn_end", "b", { index: 1 })];
    const session = await run({ hooks, settings: { cap: 1 } }, "hi");
    const second = session.state.history.filter((message) => message.turn === 2).map((message) =>
      message.text
    );
    assert.deepEqual(second, ["[hook:turn_end] a", "[hook:turn_end] b", "echo: [hook:turn_end] b"]);
  });

  it("keeps a wake from session_end, passive, for the next run", async () => {
    const hooks = [pushHook("session_end", "bye")];
    const session = await run({ hooks }, "hi");
    assert.equal(session.state.turns, 1);
    const next = await here.open({ hooks });
    await next.run({ untilIdle: true });
    assert.equal(next.state.turns, 1);
    await next.accept(humanMessage("later", "back"));
    await next.run({ untilIdle: true });
    assert.deepEqual(texts(next).slice(2), ["[hook:session_end] bye", "back", "echo: back"]);
  });

  it("fires turn_end once with status error when the model fails, and stays usable", async () => {
    const model = steps(new ReynError("E_MODEL_FAILED", "it broke"), "better");
    const session = await here.open({
      model,
      hooks: [pushHook("turn_end", "was {{ status }}", { wake: false })],
    });
    await session.accept(humanMessage("a", "one"));
    await session.run({ untilIdle: true });
    await session.accept(humanMessage("b", "two"));
    await session.run({ untilIdle: true });
    assert.deepEqual(texts(session), ["one", "[hook:turn_end] was error", "two", "better"]);
    const ended = here.events.filter((event) => event.type === "turn_ended");
    assert.deepEqual(ended.map((event) => event.status), ["error", "ok"]);
  });

  it("interrupts the turn when it is stopped, and takes its message up exactly once at the next open", async () => {
    const first = await here.open({
      model: steps(() => {
        first.stop();
        return Promise.resolve("never seen");
      }),
      hooks: [pushHook("turn_end", "was {{ status }}", { wake: false })],
    });
    await first.accept(humanMessage("a", "one"));
    await first.run({ untilIdle: true });
    await first.close();
    assert.equal(first.state.retry?.userText, "one");

    const second = await here.open({});
    await second.run({ untilIdle: true });
    await second.close();
    assert.deepEqual(texts(second), ["[hook:turn_end] was interrupted", "one", "echo: one"]);

    const third = await here.open({});
    await third.run({ untilIdle: true });
    assert.equal(third.state.turns, 2);
  });

  it("does not take an interrupted message up with resume: skip", async () => {
    const first = await here.open({
      settings: { resume: "skip" },
      model: steps(() => {
        first.stop();
        return Promise.resolve("");
      }),
    });
    await first.accept(humanMessage("a", "one"));
    await first.run({ untilIdle: true });
    await first.close();
    const second = await here.open({ settings: { resume: "skip" } });
    await second.run({ untilIdle: true });
    assert.equal(second.state.turns, 1);
  });

  it("goes on with a turn that a crash interrupted: journaled steps stay, turn_start does not fire again", async () => {
    const hooks = [
      pushHook("turn_start", "started", { wake: false }),
      pushHook("turn_end", "ended", { wake: false }),
    ];
    const crashing = steps(() => Promise.reject(new Error("the process dies here")));
    const lost = await here.open({ hooks, model: crashing });
    await lost.accept(humanMessage("a", "one"));
    const ended = here.store.commit;
    // Nothing of the turn's end reaches the disk, as if the process had been killed in the model step.
    here.store.commit = (commit) =>
      commit.ops.some((op) => op.op === "append" && op.record["t"] === "turn_ended")
        ? Promise.reject(new Error("killed"))
        : ended(commit);
    await assert.rejects(lost.run({ untilIdle: true }), /killed/);
    here.store.commit = ended;
    await here.crash();

    const session = await here.open({ hooks });
    await session.run({ untilIdle: true });
    assert.deepEqual(texts(session), ["[hook:turn_start] started", "one", "echo: one"]);
    assert.equal(session.state.turns, 1);
    assert.equal(here.audit.events.filter((event) => event.type === "session_interrupted").length, 1);
    const [staged] = await here.store.pending("default/main", 10);
    assert.equal(staged?.id, "default/main/1/turn_end/startup:#0");
  });

  it("lets a failed hook be, and stops new turns only with on_error suspend", async () => {
    const broken = (onError: "continue" | "suspend") =>
      pushHook("turn_end", "{{ nothing }}", { name: "bad", onError });
    const session = await run(
      { hooks: [broken("continue"), pushHook("turn_end", "fine", { wake: false })] },
      "one",
    );
    assert.equal(session.state.suspended, null);
    assert.equal((await here.store.pending("default/main", 10)).length, 1);

    const next = await here.open({ hooks: [broken("suspend")] });
    await next.accept(humanMessage("b", "two"));
    await next.accept(humanMessage("c", "three"));
    await next.run({ untilIdle: true });
    assert.equal(next.state.suspended, "bad");
    assert.equal(next.state.turns, 2);
    await here.crash();
    const after = await here.open({});
    await after.run({ untilIdle: true });
    assert.equal(after.state.turns, 2);
  });

  it("runs a hook with await: false in the background and waits for it before it ends", async () => {
    const hooks = [pushHook("turn_start", "later", { wake: false, awaited: false, name: "slow" })];
    const session = await run({ hooks }, "hi");
    assert.deepEqual(texts(session), ["hi", "echo: hi"]);
    const [staged] = await here.store.pending("default/main", 10);
    assert.equal(staged?.body["text"], "[hook:slow] later");
  });

  it("records a verdict for each hook of a firing", async () => {
    await run({
      hooks: [
        pushHook("turn_end", "a", { name: "a", wake: false }),
        pushHook("turn_end", "{{ b }}", { name: "b" }),
      ],
    }, "hi");
    const verdicts = here.audit.events.filter((event) => event.type === "hooks_evaluated");
    assert.deepEqual(verdicts.map((event) => event.data), [
      { point: "turn_end", verdicts: { a: "pushed", b: "failed" } },
    ]);
  });

  it("has the same history and events without hooks as with hooks that are elsewhere", async () => {
    const plain = await run({}, "hi");
    const withoutHooks = {
      history: plain.state.history,
      events: here.audit.events.map((event) => event.type),
    };
    await here.end();
    here = await world();
    const other = await run({ hooks: [] }, "hi");
    assert.deepEqual(
      { history: other.state.history, events: here.audit.events.map((event) => event.type) },
      withoutHooks,
    );
  });

  it("refuses a message that is too long, before it is acknowledged", async () => {
    const session = await here.open();
    await assert.rejects(
      session.accept(humanMessage("a", "x".repeat(33 * 1024 * 1024))),
      (error) => error instanceof ReynError && error.code === "E_MESSAGE_TOO_LARGE",
    );
  });

  it("does not miss a message that comes in while the inbox is being read", async () => {
    const session = await here.open();
    const read = here.store.pending;
    here.store.pending = async (...args) => {
      here.store.pending = read;
      const before = await read(...args);
      await session.accept(humanMessage("late", "late"));
      return before;
    };
    await session.run({ untilIdle: true });
    assert.deepEqual(texts(session), ["late", "echo: late"]);
  });

  it("keeps lone surrogates and control characters of a message as they are", async () => {
    const odd = "a\u0000b\ud800c\u001b[31m\r\n";
    const session = await run({}, odd);
    assert.equal(texts(session)[0], odd);
    await here.crash();
    const again = await here.open();
    assert.deepEqual(again.state.history, session.state.history);
  });
});
